import type { AddressRecord } from '@kube-ovn/ipam'
import { ovnEipType, type OvnEip } from '@kube-ovn/kube-api'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { addressesOfEip, eipNic, eipOwner, subnetOfEip } from '../addresses/eip-record.ts'
import { readAddresses } from '../addresses/recorded.ts'
import type { ControlWorld } from '../world.ts'

type Port = OvnNorthbound['Logical_Switch_Port']

const ownerPrefix = 'ovn-eip/'

/** Reads what an OvnEip has from its status; `undefined` before it has addresses. */
export function recordOfEip(eip: OvnEip, world: ControlWorld): AddressRecord | undefined {
  const recorded = addressesOfEip(eip)
  if (recorded === undefined) return undefined
  const { name } = eip.metadata
  return { nic: eipNic(name), owner: eipOwner(name), subnet: subnetOfEip(eip, world), ...recorded }
}

/** The OvnEip that a port belongs to: as its mark says, or, for one that upstream made, its name. */
export function eipOfPort({ name, type, external_ids: ids }: Port, world: ControlWorld): string | undefined {
  if (ids[externalId.vendor] !== vendor) return undefined
  const owner = ids[externalId.owner]
  if (owner !== undefined) return owner.startsWith(ownerPrefix) ? owner.slice(ownerPrefix.length) : undefined
  const isOfEip = world.ovnEips.get(name)?.spec?.type === ovnEipType.nodePort
  return isOfEip && type === '' && ids[externalId.pod] === undefined ? name : undefined
}

/** Reads what the port of an OvnEip has: the OvnEip may not have been told yet. */
export function recordOfEipPort(eip: string, port: Port, world: ControlWorld): AddressRecord | undefined {
  const [mac, ...texts] = (port.addresses[0] ?? '').split(' ')
  const recorded = readAddresses(texts, mac)
  if (recorded === undefined) return undefined
  return {
    ...{ nic: eipNic(eip), owner: eipOwner(eip), ...recorded },
    subnet: port.external_ids[externalId.logicalSwitch] ?? '',
    isOver: world.ovnEips.get(eip) === undefined,
  }
}
