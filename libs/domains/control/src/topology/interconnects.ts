import { parseIpList, type DualStackIp } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { aspectOf } from './aspect.ts'
import { inSubnet, SubnetInvalidError } from './errors.ts'

/** How an underlay Subnet is to be connected to the router of its VPC. */
export interface Interconnect {
  /** Addresses of the router there; of a family without one any that is free. */
  readonly wish: DualStackIp
  /** Only what is for overlay subnets goes over the connection. */
  readonly isOverlayOnly: boolean
}

/**
 * Reads how an underlay Subnet is to be connected; nothing where it is not.
 *
 * @throws SubnetInvalidError
 */
export function resolveInterconnect(subnet: string, spec: SubnetSpec): Interconnect | undefined {
  const { u2oInterconnection = false, u2oInterconnectionIP: text = '', vlan = '' } = spec
  const isOverlayOnly = spec.u2oFeatures?.overlayOnlyRouting === true
  if (!u2oInterconnection || vlan === '') {
    if (!isOverlayOnly) return undefined
    throw new SubnetInvalidError({
      subnet,
      field: 'spec.u2oFeatures.overlayOnlyRouting',
      value: 'true',
      cure: 'switch it off, or give the subnet a vlan and switch u2oInterconnection on',
    })
  }
  const wish = text === '' ? {} : inSubnet(subnet, () => parseIpList(text, 'spec.u2oInterconnectionIP'))
  return { wish, isOverlayOnly }
}

/** How underlay Subnets are to be connected, of those that are. */
export const interconnects = rowTable({
  name: 'interconnects',
  of: subnets,
  row: aspectOf(resolveInterconnect),
})
