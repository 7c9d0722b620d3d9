import { vipLabel } from '@kube-ovn/annotations'
import { ownerOf, type Owner } from '@kube-ovn/ipam'
import type { Vip } from '@kube-ovn/kube-api'
import type { ControlWorld } from '../world.ts'
import { readAddresses, type RecordedAddresses } from './recorded.ts'

/** What the addresses of a Vip are held under. No port has a slash in its name. */
export function vipNic(name: string): string {
  return `vip/${name}`
}

export function vipOwner(name: string): Owner {
  return ownerOf('vip', name)
}

/** Reads what a Vip has from its status, which is where it is recorded; `undefined` before it has addresses. */
export function addressesOfVip({ status }: Vip): RecordedAddresses | undefined {
  return readAddresses([status?.v4ip, status?.v6ip], status?.mac)
}

/** The subnet that a Vip has its addresses from, whatever its specification was edited to since. */
export function subnetOfVip(vip: Vip, world: ControlWorld): string {
  const had = addressesOfVip(vip) === undefined ? undefined : vip.metadata.labels?.[vipLabel.subnet]
  return had !== undefined && world.attachments.get(had) !== undefined ? had : (vip.spec?.subnet ?? '')
}

/** What a Vip is for since it has addresses, whatever its specification was edited to since; empty where nobody said. */
export function writtenTypeOfVip(vip: Vip): string {
  return (addressesOfVip(vip) === undefined ? vip.spec?.type : vip.status?.type) ?? ''
}
