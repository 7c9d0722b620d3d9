/** A packet that ovn-controller logged because an ACL says so. */
export interface LoggedPacket {
  /** Of the ACL; empty where it has none. */
  readonly name: string
  readonly verdict: string
  readonly severity: string
  readonly direction: string
  readonly protocol: string
  readonly source: string
  readonly target: string
  readonly sourcePort: string
  readonly targetPort: string
}

const actions: Record<string, readonly string[]> = {
  allow: ['allow', 'allow-related', 'allow-stateless'],
  drop: ['drop'],
  reject: ['reject'],
  pass: ['pass'],
}

/**
 * Reads a line of ovn-controller's log like
 * `…|acl_log(ovn_pinctrl0)|INFO|name="shop/till", verdict=drop, severity=info, direction=to-lport: tcp,…,nw_src=10.0.0.2,…`.
 *
 * None where it is no such line.
 */
export function parseAclLog(line: string): LoggedPacket | undefined {
  const [, quoted, bare = '', verdict = '', severity = '', direction = '', packet = ''] =
    /name=(?:"([^"]*)"|([^,]*)), verdict=(\w+), severity=(\w+)(?:, direction=([\w-]+))?: ?(.*)/.exec(line) ??
    []
  if (verdict === '') return undefined
  const [protocol = '', ...pairs] = packet.split(',')
  const fields = new Map(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
  const one = (...names: readonly string[]): string =>
    names.map((name) => fields.get(name)).find((value) => value !== undefined) ?? ''
  const name = quoted ?? bare
  return {
    name: name === '<unnamed>' ? '' : name,
    ...{ verdict, severity, direction, protocol },
    source: one('nw_src', 'ipv6_src', 'arp_spa'),
    target: one('nw_dst', 'ipv6_dst', 'arp_tpa'),
    sourcePort: one('tp_src'),
    targetPort: one('tp_dst'),
  }
}

/** Whether an ACL of this action, direction and severity can be the one that was logged. */
export function mayHaveLogged(
  { verdict, direction, severity }: LoggedPacket,
  acl: {
    readonly action: string
    readonly direction: string
    readonly severity: string
    readonly log: boolean
  },
): boolean {
  return (
    acl.log &&
    (actions[verdict] ?? [verdict]).includes(acl.action) &&
    (direction === '' || acl.direction === direction) &&
    (acl.severity === '' || acl.severity === severity)
  )
}

/**
 * Who sent what to whom.
 *
 * @param whoHas names those who have an address: several, where VPCs have one prefix, and the log does not tell which one it was
 */
export function packetText(packet: LoggedPacket, whoHas: (address: string) => readonly string[]): string {
  const end = (address: string, port: string): string => {
    const where = port === '' ? address : `${address.includes(':') ? `[${address}]` : address}:${port}`
    const who = whoHas(address)
    return who.length === 0 ? where : `${where} (${who.join(' or ')})`
  }
  const { verdict, protocol, source, target, sourcePort, targetPort } = packet
  return `${verdict}: ${protocol} from ${end(source, sourcePort)} to ${end(target, targetPort)}`
}
