/** Load_Balancer option of upstream's build of OVN, which stock OVN passes over: upstream writes it for Services, on or off. */
export const preferLocalOption = 'prefer_local_backend'
