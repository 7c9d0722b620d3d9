/** Settings below `net.`, by family, without which a network namespace forwards nothing. */
export const forwardingSettings = {
  4: { key: 'ipv4/ip_forward', value: '1' },
  6: { key: 'ipv6/conf/all/forwarding', value: '1' },
} as const

/**
 * What the namespace of a Pod that forwards gets. Questions come by one NIC and answers leave by it, though the route to clients is by
 * another one: a strict check of sources would drop them.
 */
export const sysctlsOfForwarder = [
  ...Object.values(forwardingSettings),
  { key: 'ipv4/conf/all/rp_filter', value: '2' },
] as const
