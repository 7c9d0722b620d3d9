import type { ServicePort } from '@kube-ovn/kube-api/core'

/** As OVN has them (ovn-nb(5), Load_Balancer, protocol). */
export const protocols = ['tcp', 'udp', 'sctp'] as const

export type Protocol = (typeof protocols)[number]

const byName: Readonly<Record<NonNullable<ServicePort['protocol']>, Protocol>> = {
  TCP: 'tcp',
  UDP: 'udp',
  SCTP: 'sctp',
}

/** The protocol of a port, of a Service or of its endpoints: TCP where nothing is written. */
export function protocolOf({ protocol = 'TCP' }: Pick<ServicePort, 'protocol'>): Protocol {
  return byName[protocol]
}
