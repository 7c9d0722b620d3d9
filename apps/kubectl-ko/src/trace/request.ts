import { familyOf, formatIp, tryParseIp, tryParseMac, type Ip, type Mac } from '@kube-ovn/ip'
import { UsageError } from '../errors.ts'

/** Who sends the packet that is traced. */
export type TraceSource =
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'node'; readonly name: string }

export type TraceProtocol =
  | { readonly kind: 'icmp' }
  | { readonly kind: 'tcp' | 'udp'; readonly port: number }
  | { readonly kind: 'arp'; readonly operation: 'request' | 'reply' }

export interface TraceRequest {
  readonly source: TraceSource
  readonly target: Ip
  /** Of the frame's destination; without it, it is found out. */
  readonly mac: Mac | undefined
  readonly protocol: TraceProtocol
}

/**
 * Reads `NAMESPACE/POD | node//NAME`, an address, perhaps a MAC address, and a protocol with its port or operation.
 *
 * @throws UsageError
 */
export function parseTraceRequest(words: readonly string[], namespace = 'default'): TraceRequest {
  const [from, to, ...rest] = words
  if (from === undefined)
    throw new UsageError('source', '', 'write NAMESPACE/POD, POD or node//NAME to trace from')
  if (to === undefined) throw new UsageError('target IP address', '', 'write the address to trace to')
  const target = tryParseIp(to)
  if (target === undefined) throw new UsageError('target IP address', to, 'write an address of IPv4 or IPv6')
  const mac = rest[0] === undefined ? undefined : tryParseMac(withWholeBytes(rest[0]))
  const [protocol, detail, surplus] = mac === undefined ? rest : rest.slice(1)
  if (surplus !== undefined) throw new UsageError('argument', surplus, 'leave it out')
  return {
    source: parseSource(from, namespace),
    target,
    mac,
    protocol: parseProtocol(protocol, detail, target),
  }
}

/** Bytes of a MAC address may be written with one digit, e.g. by `arp -a` of BSD. */
function withWholeBytes(text: string): string {
  return /^([0-9a-f]{1,2}:){5}[0-9a-f]{1,2}$/i.test(text) ? text.replaceAll(/\b[0-9a-f]\b/gi, '0$&') : text
}

/** Reads `NAMESPACE/POD`, `POD` or `node//NAME`. */
export function parseSource(text: string, namespace = 'default'): TraceSource {
  const [, node] = /^node\/\/(.+)$/.exec(text) ?? []
  if (node !== undefined) return { kind: 'node', name: node }
  const parts = text.split('/')
  const [first = '', second] = parts
  const name = second ?? first
  if (parts.length > 2 || first === '' || name === '')
    throw new UsageError('pod', text, 'write NAMESPACE/POD or POD')
  return { kind: 'pod', namespace: second === undefined ? namespace : first, name }
}

function parseProtocol(protocol: string | undefined, detail: string | undefined, target: Ip): TraceProtocol {
  switch (protocol) {
    case undefined:
      throw new UsageError('protocol', '', 'write icmp, tcp PORT, udp PORT or arp [request|reply]')
    case 'icmp':
      if (detail !== undefined) throw new UsageError('argument', detail, 'leave it out: icmp takes none')
      return { kind: 'icmp' }
    case 'tcp':
    case 'udp':
      return { kind: protocol, port: parsePort(protocol, detail) }
    case 'arp':
      if (familyOf(target) === 6)
        throw new UsageError(
          'target IP address',
          formatIp(target),
          'write an address of IPv4: IPv6 has no ARP',
        )
      if (detail !== undefined && detail !== 'request' && detail !== 'reply')
        throw new UsageError('ARP type', detail, 'write request or reply')
      return { kind: 'arp', operation: detail ?? 'request' }
    default:
      throw new UsageError(
        'type',
        protocol,
        'write icmp, tcp, udp or arp; a MAC address has six pairs of digits',
      )
  }
}

function parsePort(protocol: string, text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0
  if (port < 1 || port > 65535)
    throw new UsageError('port', text ?? '', `write ${protocol} and a number from 1 to 65535`)
  return port
}
