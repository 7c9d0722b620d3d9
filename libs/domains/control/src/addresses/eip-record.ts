import { ovnEipLabel } from '@kube-ovn/annotations'
import { ownerOf, type Owner } from '@kube-ovn/ipam'
import type { OvnEip } from '@kube-ovn/kube-api'
import type { ControlSettings } from '../settings.ts'
import { readAddresses, type RecordedAddresses } from './recorded.ts'

/** By what is read where an OvnEip is. */
interface EipSurroundings {
  readonly settings: ControlSettings
  /** Of subnets that are in effect. */
  readonly attachments: { get(subnet: string): unknown }
}

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
export function askedSubnetOfEip({ spec }: OvnEip, { settings }: Pick<EipSurroundings, 'settings'>): string {
  const named = spec?.externalSubnet ?? ''
  return named === '' ? settings.externalSubnet : named
}

/** The subnet that an OvnEip has its addresses from, whatever its specification was edited to since. */
export function subnetOfEip(eip: OvnEip, { settings, attachments }: EipSurroundings): string {
  const had = addressesOfEip(eip) === undefined ? undefined : eip.metadata.labels?.[ovnEipLabel.subnet]
  return had !== undefined && attachments.get(had) !== undefined ? had : askedSubnetOfEip(eip, { settings })
}

/** What an OvnEip is for since it has addresses, whatever its specification was edited to since; empty where nobody said. */
export function writtenTypeOfEip(eip: OvnEip): string {
  const { spec, status } = eip
  return (addressesOfEip(eip) === undefined ? spec?.type : (status?.type ?? spec?.type)) ?? ''
}
