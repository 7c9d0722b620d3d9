import { switchedOn } from '@kube-ovn/process'

/** By which the way out of Subnets is decided. */
export const egressFlags = {
  enableEcmp: switchedOn(false, 'Let all ready gateway nodes of centralized subnets share their traffic.'),
} as const
