/** Options of a Load_Balancer whose backends are variables of the chassis (ovn-nb(5), Load_Balancer, template). */
export function templateOptions(family: 4 | 6): Readonly<Record<string, string>> {
  return { template: 'true', 'address-family': `ipv${family}` }
}

/** Load_Balancer option of upstream's build of OVN, which stock OVN passes over: upstream writes it for Services, on or off. */
export const preferLocalOption = 'prefer_local_backend'
