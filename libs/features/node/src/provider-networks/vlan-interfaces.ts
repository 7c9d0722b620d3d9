import { createHash } from 'node:crypto'
import { longestInterface } from '@kube-ovn/kube-api'
import type { LinkInfo } from '@kube-ovn/netlink'
import { findAttached, findInterface, type InterfaceRow, type LocalOvs, type PortRow } from '../local-ovs.ts'
import { ProviderNetworkInvalidError } from './errors.ts'
import type { LinkState } from './link-state.ts'
import type { VlanChoice } from './snapshot.ts'

/** Key of a port that says which interface of the kernel it stands for; upstream's. */
export const vlanSourceKey = 'provider-vlan-interface'

/** The highest tag of an interface of the kernel. */
const highestTag = 4094

/** A VLAN interface of a NIC. */
interface VlanInterface {
  readonly name: string
  /** Tag of its frames. */
  readonly id: number
}

/** A VLAN interface of a connected NIC, with the port that stands for it. */
export interface KeptVlan extends VlanInterface {
  /** Name of the port of the bridge. */
  readonly port: string
  /** Index of the link of the port; another one says that it was made anew, and is bare. 0: it has not been there yet. */
  readonly portIndex: number
  readonly mtu: number
  readonly mac: string | undefined
  /** Addresses and routes, of the interface before, of the port since. */
  readonly state: LinkState
}

/** A port that stands for a VLAN interface. */
export interface VlanPort extends VlanInterface {
  readonly port: PortRow
  readonly interface: InterfaceRow | undefined
}

/** Takes the name of a VLAN interface, `eth1.100`, apart; `undefined` when it is no such name, or one that Linux does not take. */
export function parseVlanName(name: string): { readonly parent: string; readonly id: number } | undefined {
  const match = /^(.+)\.(\d{1,4})$/.exec(name)
  const [, parent = '', digits = ''] = match ?? []
  const id = Number(digits)
  const isName = match !== null && name.length <= longestInterface
  return isName && id >= 1 && id <= highestTag ? { parent, id } : undefined
}

/** Names the port of a bridge that stands for a VLAN interface, as upstream does. */
export function vlanPortName(bridge: string, id: number): string {
  const plain = `${bridge}-vlan${id}`
  if (plain.length <= longestInterface) return plain
  return `kv${id}-${base32(createHash('sha256').update(bridge).digest())}`.slice(0, longestInterface)
}

const base32Digits = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648, in lower case and without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => base32Digits.charAt(Number.parseInt(five.padEnd(5, '0'), 2)))
    .join('')
}

/** Reads which of the ports of a bridge stand for VLAN interfaces of the NIC. */
export function vlanPortsOf(
  ovs: Pick<LocalOvs, 'cache'>,
  bridge: string,
  nic: string,
  ports: readonly PortRow[],
): readonly VlanPort[] {
  return ports.flatMap((port) => {
    const row = findInterface(ovs, port.name)
    const { tag: id = 0 } = port
    if (id === 0 || row?.type !== 'internal' || port.name === bridge) return []
    return [{ id, name: port.external_ids[vlanSourceKey] || `${nic}.${id}`, port, interface: row }]
  })
}

/** VLAN interfaces of a NIC that the kernel has, without those that are NICs themselves. */
export function vlanDevicesOf(
  { links, ovs }: { readonly links: readonly LinkInfo[]; readonly ovs: Pick<LocalOvs, 'cache'> },
  nic: LinkInfo,
  { others }: VlanChoice,
): readonly (LinkInfo & VlanInterface)[] {
  return links.flatMap((link) => {
    const { vlanId: id, linkIndex, linkNetnsId, name } = link
    if (id === undefined || linkIndex !== nic.index || linkNetnsId !== undefined) return []
    return others.includes(name) || findAttached(ovs, name) !== undefined ? [] : [{ ...link, id }]
  })
}

/** A VLAN interface that is to be kept working. */
export interface WantedVlan extends VlanInterface {
  readonly port: string
  /** The interface of the kernel, as long as there is one. */
  readonly device: LinkInfo | undefined
}

/**
 * Chooses the VLAN interfaces that are kept: of those that the kernel has, and those that ports stand for already.
 *
 * @throws ProviderNetworkInvalidError when two have one tag, or others depend on one that would have to go
 */
export function chooseVlans(
  bridge: string,
  choice: VlanChoice,
  devices: readonly (LinkInfo & VlanInterface)[],
  known: readonly VlanInterface[],
  links: readonly LinkInfo[],
): readonly WantedVlan[] {
  const { preservesAll, named } = choice
  const isChosen = ({ name }: VlanInterface): boolean => preservesAll || named.includes(name)
  const field = preservesAll ? 'spec.preserveVlanInterfaces' : 'spec.vlanInterfaces'
  const refuse = (value: string, cure: string): never => {
    throw new ProviderNetworkInvalidError({ field, value, cure })
  }
  const chosen = devices.filter(isChosen)
  for (const device of chosen) {
    const twin = chosen.find(({ id, index }) => id === device.id && index < device.index)
    if (twin !== undefined)
      refuse(device.name, `remove one of ${twin.name} and ${device.name}: they have one tag`)
    const user = links.find((link) => dependsOn(link, device))
    if (user !== undefined)
      refuse(
        device.name,
        `take it from ${user.name}, which is made of it, or name in vlanInterfaces those to keep`,
      )
  }
  const byId = new Map<number, WantedVlan>()
  for (const { id, name } of known.filter(isChosen))
    byId.set(id, { id, name, port: vlanPortName(bridge, id), device: undefined })
  for (const device of chosen)
    byId.set(device.id, { id: device.id, name: device.name, port: vlanPortName(bridge, device.id), device })
  return [...byId.values()].sort((a, b) => a.id - b.id)
}

/** Whether a link is made of the device, or has it as one of its ports: it would end, or be without it. */
function dependsOn(link: LinkInfo, device: LinkInfo): boolean {
  if (link.index === device.masterIndex) return link.kind !== 'openvswitch'
  return link.linkIndex === device.index && link.linkNetnsId === undefined
}

const aliasPrefix = 'kube-ovn:'

/** What a VLAN interface is marked by that was made for a network; upstream's. */
export function vlanAlias(network: string): string {
  return `${aliasPrefix}${network}`
}

/** The network that a VLAN interface was made for. */
export function networkOfAlias({ alias = '', vlanId }: LinkInfo): string | undefined {
  return vlanId !== undefined && alias.startsWith(aliasPrefix) ? alias.slice(aliasPrefix.length) : undefined
}
