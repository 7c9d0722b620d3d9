/** Settings of the node's network, below `net`, by which it forwards packets of pods. */
export function desiredSysctls(families: {
  readonly hasIpv4: boolean
  readonly hasIpv6: boolean
}): ReadonlyMap<string, string> {
  const settings = new Map<string, string>()
  if (families.hasIpv4) {
    settings.set('ipv4/ip_forward', '1')
    // A packet of a pod comes in by ovn0 while the route to its source may be another: strict checks would drop it.
    settings.set('ipv4/conf/all/rp_filter', '0')
  }
  if (families.hasIpv6) settings.set('ipv6/conf/all/forwarding', '1')
  return settings
}
