import type { Transport } from '@kube-ovn/ovn-match'

/** Protocols as policies of Kubernetes name them. */
export const transports: Readonly<Record<string, Transport | undefined>> = {
  TCP: 'tcp',
  UDP: 'udp',
  SCTP: 'sctp',
}

export const highestPort = 65_535

export function isPort(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value > 0 && value <= highestPort
}
