import {
  formatCidrList,
  formatIpList,
  parseCidrList,
  parseIpList,
  parseMac,
  type DualStackCidr,
  type DualStackIp,
  type Mac,
} from '@kube-ovn/ip'
import { annotation, type Annotation } from './annotation.ts'

/** `v4`, `v6` or `v4,v6`; the empty text is no address at all. */
export function addressesAnnotation(key: string): Annotation<DualStackIp> {
  return annotation(key, (text, field) => (text === '' ? {} : parseIpList(text, field)), formatIpList)
}

/** Prefixes as `v4`, `v6` or `v4,v6`; the empty text is none at all. */
export function cidrsAnnotation(key: string): Annotation<DualStackCidr> {
  return annotation(key, (text, field) => (text === '' ? {} : parseCidrList(text, field)), formatCidrList)
}

export function macAnnotation(key: string): Annotation<Mac> {
  return annotation(key, parseMac, (mac) => mac)
}

/** The gateways of the families in which there is an address: the annotation has those of the whole subnet. */
export function usableGateways(gateways: DualStackIp | undefined, addresses: DualStackIp): DualStackIp {
  const { v4, v6 } = gateways ?? {}
  return {
    ...(v4 === undefined || addresses.v4 === undefined ? {} : { v4 }),
    ...(v6 === undefined || addresses.v6 === undefined ? {} : { v6 }),
  }
}
