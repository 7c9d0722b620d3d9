import { ovnEipLabel } from '@kube-ovn/annotations'
import { ownerOf, type Owner } from '@kube-ovn/ipam'
import type { OvnEip } from '@kube-ovn/kube-api'
import type { ControlWorld } from '../world.ts'
import { readAddresses, type RecordedAddresses } from './recorded.ts'

/** What the addresses of an OvnEip are held under. No port has a slash in its name. */
export function eipNic(name: string): string {
  return `eip/${name}`
}

export function eipOwner(name: string): Owner {
  return ownerOf('eip', name)
}

/** Reads what an OvnEip has from its status, which is where it is recorded; `undefined` before it has addresses. */
export function addressesOfEip({ status }: OvnEip): RecordedAddresses | undefined {
  return readAddresses([status?.v4Ip, status?.v6Ip], status?.macAddress)
}

/** The subnet that an OvnEip asks for: the default one unless it names another. */
export function askedSubnetOfEip({ spec }: OvnEip, { settings }: Pick<ControlWorld, 'settings'>): string {
  const named = spec?.externalSubnet ?? ''
  return named === '' ? settings.externalSubnet : named
}

/** The subnet that an OvnEip has its addresses from, whatever its specification was edited to since. */
export function subnetOfEip(eip: OvnEip, world: ControlWorld): string {
  const had = addressesOfEip(eip) === undefined ? undefined : eip.metadata.labels?.[ovnEipLabel.subnet]
  return had !== undefined && world.attachments.get(had) !== undefined ? had : askedSubnetOfEip(eip, world)
}
