import { macFromName } from '@kube-ovn/ip'
import type { LinkInfo } from '@kube-ovn/netlink'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { Owner } from '@kube-ovn/fragments'
import type { Operation } from 'ovsdb-client'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  removePortOperations,
  setBridgeConfig,
  setMapKeys,
  openVswitchRow,
  type BridgeRow,
  type LocalOvs,
  type OpenVswitchRow,
  type PortRow,
} from '../local-ovs.ts'
import { mappingKeys, mappingOf, withMapping } from './mappings.ts'
import type { ProviderBridge } from './snapshot.ts'
import { vlanPortsOf, vlanSourceKey, type KeptVlan, type VlanPort } from './vlan-interfaces.ts'

/** What there is of a network on this node. */
export interface Connection {
  readonly row: BridgeRow
  /** Port of the NIC. */
  readonly nic: PortRow | undefined
  /** Ports that stand for VLAN interfaces of the NIC. */
  readonly vlans: readonly VlanPort[]
  /** Names of ports that somebody else has put there. */
  readonly foreign: readonly string[]
}

const exchangeKey = 'exchange-link-name'

/** Of `Open_vSwitch.external_ids`: which data path ovn-controller gives bridges. */
export const datapathKey = 'ovn-bridge-datapath-type'
const kernelDatapath = 'system'

const feature = 'provider-networks'

/** The network of a bridge of ours. */
export function ownerOf(ids: Readonly<Record<string, string>>): string | undefined {
  const owner = ids[externalId.owner] ?? ''
  return ids[externalId.vendor] === vendor && owner.startsWith(`${feature}/`)
    ? owner.slice(feature.length + 1)
    : undefined
}

function isOurs({ external_ids: ids }: { readonly external_ids: Readonly<Record<string, string>> }): boolean {
  return ids[externalId.vendor] === vendor
}

/** Whether the NIC of a bridge had the bridge's name before. */
export function hasExchangedNames({ external_ids: ids }: Pick<BridgeRow, 'external_ids'>): boolean {
  return ids[exchangeKey] === 'true'
}

/** The rows of bridges to physical networks, and the operations that make them and take them away. */
export class BridgeRows {
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  /** The networks that there is a bridge of ours for. */
  networks(): ReadonlySet<string> {
    const root = openVswitchRow(this.#ovs)
    const mappings = root?.external_ids[mappingKeys.bridges] ?? ''
    const mapped = mappings.split(',').map((entry) => entry.split(':')[0]?.trim() ?? '')
    const marked = [...this.#ovs.cache.scan('Bridge')].flatMap(({ external_ids: ids }) => ownerOf(ids) ?? [])
    return new Set([
      ...marked,
      ...mapped.filter((network) => root !== undefined && this.find(network, root) !== undefined),
    ])
  }

  /** Finds the bridge by our mark, or one of an earlier release by what it is mapped to. */
  find(network: string, root: OpenVswitchRow): Connection | undefined {
    const ovs = this.#ovs
    const marked = [...ovs.cache.scan('Bridge')].find((row) => ownerOf(row.external_ids) === network)
    const mapped = findBridge(ovs, mappingOf(root.external_ids[mappingKeys.bridges], network) ?? '')
    const row =
      marked ??
      (mapped !== undefined && isOurs(mapped) && ownerOf(mapped.external_ids) === undefined
        ? mapped
        : undefined)
    if (row === undefined) return undefined
    const ports = row.ports.flatMap((uuid) => ovs.cache.get('Port', uuid) ?? [])
    const outer = ports.filter(
      (port) => !['internal', 'patch'].includes(findInterface(ovs, port.name)?.type ?? ''),
    )
    const nic = outer.find(isOurs)
    const inner = ports.filter(
      (port) => findInterface(ovs, port.name)?.type === 'internal' && port.name !== row.name,
    )
    return {
      ...{ row, nic, vlans: vlanPortsOf(ovs, row.name, nic?.name ?? '', inner.filter(isOurs)) },
      foreign: [...outer, ...inner].filter((port) => !isOurs(port)).map(({ name }) => name),
    }
  }

  /** Makes the bridge of a network as it should be. */
  additions(
    wanted: ProviderBridge,
    owner: Owner,
    row: BridgeRow | undefined,
    link: LinkInfo | undefined,
  ): readonly Operation[] {
    const ovs = this.#ovs
    const { operations } = ovs
    const root = openVswitchRow(ovs)
    const datapath_type = root?.external_ids[datapathKey] ?? ''
    const ids = {
      [externalId.vendor]: vendor,
      [externalId.owner]: owner,
      [exchangeKey]: String(wanted.source !== undefined && wanted.source !== wanted.nic),
    }
    const config = {
      'mac-learning-fallback': String(wanted.hasMacLearningFallback),
      ...(link?.mac === undefined ? {} : { hwaddr: link.mac }),
    }
    if (row !== undefined)
      return [
        ...((row.datapath_type || kernelDatapath) === (datapath_type || kernelDatapath)
          ? []
          : [operations.update('Bridge', row._uuid, { datapath_type })]),
        ...setMapKeys(ovs, 'Bridge', row, Object.entries(ids)),
        ...setBridgeConfig(ovs, row, Object.entries(config)),
      ]
    if (root === undefined) return []
    const { bridge: name } = wanted
    return [
      operations.insert('Interface', { name, type: 'internal' }, 'interface'),
      operations.insert('Port', { name, interfaces: [{ named: 'interface' }] }, 'port'),
      operations.insert(
        'Bridge',
        { name, datapath_type, ports: [{ named: 'port' }], external_ids: ids, other_config: config },
        'bridge',
      ),
      operations.mutate('Open_vSwitch', root._uuid, [['bridges', 'insert', [{ named: 'bridge' }]]]),
    ]
  }

  /** Makes the port that stands for a VLAN interface of the NIC, which has its MAC address and MTU. */
  vlanPort(bridge: BridgeRow, { name, id, port, mtu, mac }: KeptVlan): readonly Operation[] {
    return addPortOperations(
      this.#ovs,
      bridge,
      { name: port, type: 'internal', mtu_request: mtu, mac },
      { tag: id, external_ids: { [externalId.vendor]: vendor, [vlanSourceKey]: name } },
    )
  }

  /** Takes such a port away. */
  vlanRemoval(port: string): readonly Operation[] {
    const attached = findAttached(this.#ovs, port)
    return attached === undefined ? [] : removePortOperations(this.#ovs, attached)
  }

  /** Entries of others stay; one that comes at the same time makes this try fail to be seen, and is seen at the next one. */
  mappings(root: OpenVswitchRow, network: string, bridge: string | undefined): readonly Operation[] {
    const ovs = this.#ovs
    const { external_ids: ids } = root
    const mac =
      mappingOf(ids[mappingKeys.macs], network) ?? macFromName(`${ids['system-id'] ?? ''}/${network}`)
    const wanted = [
      [mappingKeys.bridges, withMapping(ids[mappingKeys.bridges], network, bridge)],
      [mappingKeys.macs, withMapping(ids[mappingKeys.macs], network, bridge === undefined ? undefined : mac)],
    ] as const
    const changes = wanted.filter(([key, value]) => ids[key] !== value)
    if (changes.length === 0) return []
    return [
      ovs.operations.wait('Open_vSwitch', root._uuid, '==', { external_ids: ids }),
      ...setMapKeys(ovs, 'Open_vSwitch', root, changes),
    ]
  }

  /** Takes the bridge away, or gives it to whoever has put other ports there. */
  removals(root: OpenVswitchRow, { row, nic, vlans, foreign }: Connection): readonly Operation[] {
    const ovs = this.#ovs
    if (foreign.length === 0)
      return [ovs.operations.mutate('Open_vSwitch', root._uuid, [['bridges', 'delete', [row._uuid]]])]
    // It is theirs from now on.
    const attached = nic === undefined ? undefined : findAttached(ovs, nic.name)
    return [
      ...(attached === undefined ? [] : removePortOperations(ovs, attached)),
      ...vlans.flatMap(({ port }) => this.vlanRemoval(port.name)),
      ...setMapKeys(
        ovs,
        'Bridge',
        row,
        [externalId.vendor, externalId.owner, exchangeKey].map((key) => [key, undefined]),
      ),
    ]
  }
}
