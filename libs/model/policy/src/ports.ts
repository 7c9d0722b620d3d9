import type { Transport } from '@kube-ovn/ovn-match'

const transports: ReadonlyMap<unknown, Transport> = new Map([
  ['TCP', 'tcp'],
  ['UDP', 'udp'],
  ['SCTP', 'sctp'],
])

/** The protocol that policies of Kubernetes name so. Not all definitions make sure that it is one, nor that it is a text. */
export function transportOf(protocol: string): Transport | undefined {
  return transports.get(protocol)
}

export const highestPort = 65_535

export function isPort(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value > 0 && value <= highestPort
}
