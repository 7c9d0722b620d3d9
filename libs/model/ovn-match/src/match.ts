import {
  familyOf,
  formatIp,
  networkText,
  parseCidr,
  parseIp,
  type Cidr,
  type Family,
  type Ip,
} from '@kube-ovn/ip'
import { InvalidMatchNameError, MatchFamilyError } from './errors.ts'

/** Addresses in the header of a packet. Comparing one implies that the packet is of that family. */
export type AddressField = `ip${Family}.${'src' | 'dst'}`

/** The logical port through which a packet enters or leaves a switch or router. */
export type PortField = 'inport' | 'outport'

/** Protocols with ports, as matches name them. */
export type Transport = 'tcp' | 'udp' | 'sctp'

/** The port of a transport protocol. Comparing one implies that the packet is of that protocol. */
type TransportField = `${Transport}.${'src' | 'dst'}`

/** Fields of headers that hold a small number. */
export type HeaderField = 'ip.proto' | 'ip.ttl' | 'icmp6.type' | 'icmp6.code'

/** What a packet is, in a word of OVN's. */
type PredicateName = 'ip' | `ip${Family}` | Transport | 'icmp4' | 'icmp6' | 'arp' | 'nd'

/** A set of addresses in the database, printed as `$name`. */
export interface AddressSetRef {
  readonly kind: 'address-set'
  readonly name: string
}

/** A set of ports in the database, printed as `@name`. */
export interface PortGroupRef {
  readonly kind: 'port-group'
  readonly name: string
}

/** An expression that a packet fulfils or not. Built by the functions of this module only. */
export type Match =
  | { readonly kind: 'predicate'; readonly name: PredicateName }
  | {
      readonly kind: 'comparison'
      readonly field: AddressField | PortField | TransportField | HeaderField
      readonly operator: '==' | '!='
      readonly value: string
    }
  | { readonly kind: 'range'; readonly field: TransportField; readonly from: number; readonly to: number }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Match[] }
  | { readonly kind: 'group'; readonly operand: Match }
  | { readonly kind: 'not'; readonly operand: Match }

const nameForm = /^[a-zA-Z_.][a-zA-Z_.0-9]*$/

/** Any IPv4 or IPv6 packet. */
export const anyIp: Match = predicate('ip')

/** The packet is what the word says. */
export function predicate(name: PredicateName): Match {
  return { kind: 'predicate', name }
}

/**
 * Refers to an address set by its plain name.
 *
 * OVN derives two sets from each port group: `<group>_ip4` and `<group>_ip6`.
 *
 * @throws InvalidMatchNameError
 */
export function addressSet(name: string): AddressSetRef {
  if (!nameForm.test(name)) throw new InvalidMatchNameError({ kind: 'address set', value: name })
  return { kind: 'address-set', name }
}

/** Refers to a port group by its plain name. @throws InvalidMatchNameError */
export function portGroup(name: string): PortGroupRef {
  if (!nameForm.test(name)) throw new InvalidMatchNameError({ kind: 'port group', value: name })
  return { kind: 'port-group', name }
}

/**
 * The field has the value, or one of the values of a set or prefix.
 *
 * A port is given by the name of its row; a prefix is printed without host bits, which OVN would refuse.
 */
export function eq(field: AddressField, value: Ip | Cidr | AddressSetRef | Cidrs): Match
export function eq(field: PortField, value: string | PortGroupRef): Match
export function eq(
  field: AddressField | PortField,
  value: string | Ip | Cidr | AddressSetRef | PortGroupRef | Cidrs,
): Match {
  const text = isList(value)
    ? `{${value.map((one) => printValue(field, one)).join(', ')}}`
    : printValue(field, value)
  return { kind: 'comparison', field, operator: '==', value: text }
}

/** Prefixes, one at least: OVN has no empty list. */
type Cidrs = readonly [Cidr, ...Cidr[]]

function isList(value: unknown): value is Cidrs {
  return Array.isArray(value)
}

/**
 * The field has a value of its family, and it is in none of them: a set in the database, or prefixes.
 *
 * @throws MatchFamilyError
 */
export function ne(field: AddressField, value: AddressSetRef | readonly Cidr[]): Match {
  const text =
    'kind' in value
      ? printValue(field, value)
      : `{${value.map((prefix) => printValue(field, prefix)).join(', ')}}`
  return { kind: 'comparison', field, operator: '!=', value: text }
}

/** The header is there, and the field has the value, or one of several. */
export function header(field: HeaderField, first: number, ...more: readonly number[]): Match {
  const value = more.length === 0 ? String(first) : `{${[first, ...more].join(', ')}}`
  return { kind: 'comparison', field, operator: '==', value }
}

/** The packet is of the protocol, and of this port. */
export function transportPort(field: TransportField, port: number): Match {
  return { kind: 'comparison', field, operator: '==', value: String(port) }
}

/** The packet is of the protocol, and of one of these ports. */
export function transportPortIn(field: TransportField, ports: readonly [number, ...number[]]): Match {
  return { kind: 'comparison', field, operator: '==', value: `{${ports.join(', ')}}` }
}

/** The packet is of the protocol, and of one of these ports, the last one included. */
export function transportPorts(field: TransportField, from: number, to: number): Match {
  return { kind: 'range', field, from, to }
}

/**
 * The packet comes from the address, or from one of the prefix; text is read first.
 *
 * @throws InvalidIpError and InvalidCidrError
 */
export function ipSource(source: Ip | Cidr | string): Match {
  const value = readAddress(source)
  return eq(`ip${familyOfValue(value)}.src`, value)
}

/**
 * The packet goes to the address, or to one of the prefix; text is read first.
 *
 * @throws InvalidIpError and InvalidCidrError
 */
export function ipDestination(destination: Ip | Cidr | string): Match {
  const value = readAddress(destination)
  return eq(`ip${familyOfValue(value)}.dst`, value)
}

/** The packet comes from an address of the set. @throws InvalidMatchNameError */
export function ipSourceSet(family: Family, name: string): Match {
  return eq(`ip${family}.src`, addressSet(name))
}

/** The packet goes to an address of the set. @throws InvalidMatchNameError */
export function ipDestinationSet(family: Family, name: string): Match {
  return eq(`ip${family}.dst`, addressSet(name))
}

/** The packet comes in through a port of the group. @throws InvalidMatchNameError */
export function inPortGroup(name: string): Match {
  return eq('inport', portGroup(name))
}

/** The packet goes out through a port of the group. @throws InvalidMatchNameError */
export function outPortGroup(name: string): Match {
  return eq('outport', portGroup(name))
}

/** All of them. */
export function and(first: Match, ...rest: readonly Match[]): Match {
  return combine('and', first, rest)
}

/** At least one of them. */
export function or(first: Match, ...rest: readonly Match[]): Match {
  return combine('or', first, rest)
}

export function not(operand: Match): Match {
  return { kind: 'not', operand }
}

/** The same, always printed in parentheses. */
export function group(operand: Match): Match {
  return { kind: 'group', operand }
}

/** Flattens operands of the same kind, so that nesting does not show in the text. */
function combine(kind: 'and' | 'or', first: Match, rest: readonly Match[]): Match {
  if (rest.length === 0) return first
  return {
    kind,
    operands: [first, ...rest].flatMap((match) => (match.kind === kind ? match.operands : [match])),
  }
}

/**
 * Prints the expression as Kube-OVN always has, because rows are found again by this text.
 *
 * OVN has no precedence between `&&` and `||`: mixing them needs parentheses.
 *
 * @see ovn-sb(5), Logical_Flow, match
 */
export function printMatch(match: Match): string {
  switch (match.kind) {
    case 'predicate':
      return match.name
    case 'comparison':
      return `${match.field} ${match.operator} ${match.value}`
    case 'range':
      return `${match.from} <= ${match.field} <= ${match.to}`
    case 'group':
      return `(${printMatch(match.operand)})`
    case 'and':
      return match.operands.map(printOperand).join(' && ')
    case 'or':
      return match.operands.map(printOperand).join(' || ')
    case 'not':
      return match.operand.kind === 'predicate' ? `!${match.operand.name}` : `!(${printMatch(match.operand)})`
  }
}

function printOperand(match: Match): string {
  return match.kind === 'and' || match.kind === 'or' ? `(${printMatch(match)})` : printMatch(match)
}

function printValue(
  field: AddressField | PortField,
  value: string | Ip | Cidr | AddressSetRef | PortGroupRef,
): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && 'kind' in value) {
    return value.kind === 'address-set' ? `$${value.name}` : `@${value.name}`
  }
  const text = typeof value === 'object' ? networkText(value) : formatIp(value)
  if (!field.startsWith(`ip${familyOfValue(value)}.`)) throw new MatchFamilyError({ field, value: text })
  return text
}

function readAddress(value: Ip | Cidr | string): Ip | Cidr {
  if (typeof value !== 'string') return value
  return value.includes('/') ? parseCidr(value) : parseIp(value)
}

function familyOfValue(value: Ip | Cidr): Family {
  return typeof value === 'object' ? value.family : familyOf(value)
}
