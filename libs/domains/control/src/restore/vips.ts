import type { AddressRecord } from '@kube-ovn/ipam'
import { vipType, type Vip } from '@kube-ovn/kube-api'
import { arpProxyOption, externalId, vendor, vipPortName, virtualPortOption } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { readAddresses } from '../addresses/recorded.ts'
import { addressesOfVip, subnetOfVip, vipNic, vipOwner } from '../addresses/vip-record.ts'
import type { ControlWorld } from '../world.ts'
import { storeIndex } from '../watched-kinds.ts'

type Port = OvnNorthbound['Logical_Switch_Port']

const ownerPrefix = 'vip/'

/** Reads what a Vip has from its status; `undefined` before it has addresses. */
export function recordOfVip(vip: Vip, world: ControlWorld): AddressRecord | undefined {
  const recorded = addressesOfVip(vip)
  if (recorded === undefined) return undefined
  const { name } = vip.metadata
  return {
    ...holderOf(name, world),
    subnet: subnetOfVip(vip, world),
    addresses: recorded.addresses,
    mac: vip.status?.type === vipType.switchLb ? false : recorded.mac,
  }
}

/** The Vip that a port belongs to: as its mark says, or, for one that upstream made, its name. */
export function vipOfPort({ name, external_ids: ids }: Port, world: ControlWorld): string | undefined {
  if (ids[externalId.vendor] !== vendor) return undefined
  const owner = ids[externalId.owner]
  if (owner !== undefined) return owner.startsWith(ownerPrefix) ? owner.slice(ownerPrefix.length) : undefined
  const [namespace = '', vip = ''] = (ids[externalId.pod] ?? '').split('/')
  const type = world.vips.get(vip)?.spec?.type ?? vipType.plain
  return type !== vipType.plain && name === vipPortName(namespace, vip) ? vip : undefined
}

/** Reads what the port of a Vip has: the Vip may not have been told yet. */
export function recordOfVipPort(vip: string, port: Port, world: ControlWorld): AddressRecord | undefined {
  const [mac, ...texts] = (port.addresses[0] ?? '').split(' ')
  const virtual = (port.options[virtualPortOption.address] ?? '').split(',')
  const recorded = readAddresses([...texts, ...virtual], mac)
  if (recorded === undefined) return undefined
  return {
    ...holderOf(vip, world),
    subnet: port.external_ids[externalId.logicalSwitch] ?? '',
    addresses: recorded.addresses,
    mac: port.options[arpProxyOption] === 'true' ? false : recorded.mac,
    isOver: world.vips.get(vip) === undefined,
  }
}

/** A Pod that borrowed the addresses of a Vip has them beside it. */
function holderOf(vip: string, world: ControlWorld): Pick<AddressRecord, 'nic' | 'owner' | 'isShared'> {
  const isShared = world.pods.find(storeIndex.podsByBorrowedVip, vip).length > 0
  return { nic: vipNic(vip), owner: vipOwner(vip), isShared }
}
