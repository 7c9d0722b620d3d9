import { tryParseCidr, tryParseIpv4, tryParseIpv6, tryParseMac, type Family } from '@kube-ovn/ip'
import { OptionTextError } from './errors.ts'
import { parseOptions } from './option-text.ts'

/** What is answered to requests, by the names and in the words of ovn-nb(5), DHCP_Options. */
export type DhcpOptions = Readonly<Record<string, string>>

/** How a value is written: reads it as it goes into the row, or finds that it is written otherwise. */
interface ValueType {
  readonly read: (value: string) => string | undefined
  /** What to write. */
  readonly form: string
}

/** Octets of an option of DHCPv4 (RFC 2132), and so what fits into one. */
const longestOption = 255
const mostAddresses = Math.floor(longestOption / 4)

const text: ValueType = {
  form: `"text" in quotation marks, without backslashes, of at most ${longestOption} characters`,
  read: (value) => (quoted.test(value) ? value : undefined),
}
const quoted = /^"[ !#-[\]-~]{1,255}"$/

const ipv4: ValueType = {
  form: 'an IPv4 address',
  read: (value) => (tryParseIpv4(value) === undefined ? undefined : value),
}
const ipv4List: ValueType = {
  form: `an IPv4 address, or {10.0.0.1;10.0.0.2} of at most ${mostAddresses}`,
  read: (value) => listText(value, (item) => tryParseIpv4(item) !== undefined),
}
const ipv6List: ValueType = {
  form: `an IPv6 address, or {fd00::1;fd00::2} of at most ${mostAddresses}`,
  read: (value) => listText(value, (item) => tryParseIpv6(item) !== undefined),
}
const mac: ValueType = {
  form: 'six bytes like 00:00:5e:00:53:01',
  // As it is written, like the original.
  read: (value) => (tryParseMac(value) === undefined ? undefined : value),
}
const hostId: ValueType = {
  form: 'an IPv4 address, or a name in quotation marks',
  read: (value) => ipv4.read(value) ?? text.read(value),
}
const domains: ValueType = {
  form: '"example.com;example.org": names in quotation marks',
  read: (value) => {
    const list = value.replaceAll(';', ',')
    const isList = text.read(list) !== undefined && list.slice(1, -1).split(',').every(isDomain)
    return isList ? list : undefined
  },
}
const routes: ValueType = {
  form: '{10.1.0.0/16;10.0.0.1}: of each route the prefix and the next hop',
  read: (value) => {
    const items = itemsOf(value)
    const isRoutes =
      items !== undefined &&
      items.length % 2 === 0 &&
      items.every((item, place) =>
        place % 2 === 0 ? tryParseCidr(item)?.family === 4 : tryParseIpv4(item) !== undefined,
      )
    return isRoutes ? `{${items.join(',')}}` : undefined
  },
}
const bit: ValueType = oneOf('0', '1')

function oneOf(...values: readonly string[]): ValueType {
  return { form: values.join(' or '), read: (value) => (values.includes(value) ? value : undefined) }
}

function number(least: number, most: number): ValueType {
  const isInside = (value: string): boolean =>
    /^[0-9]{1,10}$/.test(value) && Number(value) >= least && Number(value) <= most
  return {
    form: `a number from ${least} to ${most}`,
    read: (value) => (isInside(value) ? String(Number(value)) : undefined),
  }
}

const uint8 = number(0, 255)
const uint32 = number(0, 4_294_967_295)

/** The elements between braces; nothing when there are no braces, or too many elements. */
function itemsOf(value: string): readonly string[] | undefined {
  if (!value.startsWith('{') || !value.endsWith('}')) return undefined
  const items = value.slice(1, -1).split(/[;,]/, mostAddresses + 1)
  return items.length > mostAddresses ? undefined : items
}

function listText(value: string, isItem: (item: string) => boolean): string | undefined {
  if (isItem(value)) return value
  const items = itemsOf(value)
  return items?.every(isItem) === true ? `{${items.join(',')}}` : undefined
}

function isDomain(name: string): boolean {
  return name.split('.').every((label) => /^[a-zA-Z0-9_-]{1,63}$/.test(label))
}

/** What OVN itself puts into an answer (`netmask`, `offerip`) is none of them. */
const optionsOf: Readonly<Record<Family, ReadonlyMap<string, ValueType>>> = {
  4: new Map([
    ...['server_id', 'broadcast_address', 'next_server'].map((name) => [name, ipv4] as const),
    ...[
      ...['router', 'dns_server', 'log_server', 'lpr_server', 'swap_server', 'policy_filter'],
      ...['router_solicitation', 'nis_server', 'ntp_server', 'netbios_name_server', 'tftp_server_address'],
    ].map((name) => [name, ipv4List] as const),
    ['server_mac', mac],
    ...['hostname', 'domain_name', 'bootfile_name', 'bootfile_name_alt', 'path_prefix', 'wpad'].map(
      (name) => [name, text] as const,
    ),
    ['tftp_server', hostId],
    ['domain_search_list', domains],
    ...['classless_static_route', 'ms_classless_static_route'].map((name) => [name, routes] as const),
    ...['ip_forward_enable', 'router_discovery', 'ethernet_encap'].map((name) => [name, bit] as const),
    ...['default_ttl', 'tcp_ttl', 'netbios_node_type'].map((name) => [name, uint8] as const),
    ['mtu', number(68, 65_535)],
    ...['lease_time', 'T1', 'T2', 'arp_cache_timeout', 'tcp_keepalive_interval'].map(
      (name) => [name, uint32] as const,
    ),
  ]),
  6: new Map([
    ['server_id', mac],
    ['dns_server', ipv6List],
    ...['domain_search', 'fqdn', 'bootfile_name', 'bootfile_name_alt'].map((name) => [name, text] as const),
    ['dhcpv6_stateless', oneOf('true', 'false')],
  ]),
}

/**
 * Reads what is to be answered: `key=value` pairs separated by commas. OVN makes a flow of all options of a port together, so one that it can
 * not read would leave the port without an answer: it is refused.
 *
 * @throws OptionTextError
 * @see ovn-nb(5), DHCP_Options
 */
export function parseDhcpOptions(written: string, family: Family, field: string): DhcpOptions {
  const options: [name: string, value: string][] = []
  for (const [name, value] of parseOptions(written, field, /^[a-zA-Z][a-zA-Z0-9_]*$/)) {
    const type = optionsOf[family].get(name)
    const known = type?.read(value)
    if (known === undefined) {
      const names = [...optionsOf[family].keys()].sort().join(', ')
      const cure = type === undefined ? `name one of ${names}` : `write ${name}=${type.form}`
      throw new OptionTextError({ field, value: `${name}=${value}`, cure })
    }
    options.push([name, known])
  }
  return Object.fromEntries(options)
}

/** What is answered where nobody says otherwise. */
export interface DhcpDefaults {
  /** Of the server, who answers in place of a host. */
  readonly mac: string
  readonly gateway: string
  /** Bytes. */
  readonly mtu: number
}

/** Adds what OVN answers nothing without, and what a host is lost without. */
export function withDefaults(given: DhcpOptions, family: Family, defaults: DhcpDefaults): DhcpOptions {
  if (family === 6) return { server_id: defaults.mac, ...given }
  return {
    lease_time: '3600',
    router: defaults.gateway,
    server_id: '169.254.0.254',
    server_mac: defaults.mac,
    mtu: String(defaults.mtu),
    ...given,
  }
}
