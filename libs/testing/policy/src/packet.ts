import type { Family } from '@kube-ovn/ip'

/** Who sends a packet, or gets it. */
export type Endpoint =
  | {
      readonly kind: 'pod'
      readonly namespace: string
      readonly name: string
      readonly address: string
      /** Of the NIC that has the address; absent for that in the first network. */
      readonly provider?: string
    }
  | { readonly kind: 'node'; readonly name: string; readonly address: string }
  | { readonly kind: 'outside'; readonly address: string }

export type Protocol = 'tcp' | 'udp' | 'sctp' | 'icmp'

/** Where a connection comes from, by convention of the worlds. */
export const sourcePort = 40_000

/** The first packet of a connection; one end at least is a pod. */
export interface Packet {
  readonly family: Family
  readonly from: Endpoint
  readonly to: Endpoint
  readonly protocol: Protocol
  /** That it goes to; 0 for ICMP. */
  readonly port: number
}

/** For a reader. */
export function packetText({ from, to, protocol, port }: Packet): string {
  const text = (end: Endpoint): string =>
    end.kind === 'pod'
      ? `${end.namespace}/${end.name} (${end.provider === undefined ? '' : `${end.provider} `}${end.address})`
      : end.kind === 'node'
        ? `node ${end.name} (${end.address})`
        : end.address
  return `${text(from)} → ${text(to)} ${protocol}${protocol === 'icmp' ? '' : ` ${port}`}`
}
