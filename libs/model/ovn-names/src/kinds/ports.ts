import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { externalId } from '../external-ids.ts'
import { arpProxyOption, virtualPortOption } from '../port-options.ts'
import { podPortName, subnetVipPortName } from '../names.ts'
import { rowKind, type Marks } from './declare.ts'

/** A pod's port in one of its networks. */
export const podPort = rowKind({
  name: 'lsp',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => (isNamedAfterPod(row, ids) && !answersArp(row) ? row.name : undefined),
})

function isNamedAfterPod(row: OvnNorthbound['Logical_Switch_Port'], ids: Marks): boolean {
  const [namespace = '', pod = ''] = (ids[externalId.pod] ?? '').split('/')
  if (row.type !== '' || pod === '') return false
  const first = podPortName(namespace, pod)
  return row.name === first || row.name.startsWith(`${first}.`)
}

/** The port of a node's `ovn0`. */
export const nodePort = rowKind({
  name: 'lsp-node',
  table: 'Logical_Switch_Port',
  identify: (row, ids) =>
    isBare(row, ids) && row.name.startsWith('node-') ? row.name.slice('node-'.length) : undefined,
})

function isBare(row: OvnNorthbound['Logical_Switch_Port'], ids: Marks): boolean {
  return row.type === '' && ids[externalId.pod] === undefined && !lacksNamespace(row)
}

/**
 * The port of a Vip of a machine on a host's network. Upstream has one for a SwitchLBRule as well.
 *
 * That of a machine with a namespace looks like a pod's. Only its Vip knows better.
 */
export const vipPort = rowKind({
  name: 'lsp-vip',
  table: 'Logical_Switch_Port',
  identify: (row) => (row.type === '' && (answersArp(row) || lacksNamespace(row)) ? row.name : undefined),
  resembles: (row, ids) => (isNamedAfterPod(row, ids) ? row.name : undefined),
})

/** Whether the namespace in a port's name is empty: a Vip may have none. */
function lacksNamespace({ name }: OvnNorthbound['Logical_Switch_Port']): boolean {
  return /\.(\.|$)/.test(name)
}

/** Whether a port stands for a SwitchLBRule. */
function answersArp(row: OvnNorthbound['Logical_Switch_Port']): boolean {
  return row.options[arpProxyOption] === 'true'
}

/** The virtual port of a Vip that pods may have beside their own addresses. A Vip may be named like an address of a subnet. */
export const vipVirtualPort = rowKind({
  name: 'lsp-vip-virtual',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => (row.type === 'virtual' && !isOfSubnetVip(row, ids) ? row.name : undefined),
  resembles: (row) => (row.type === 'virtual' ? row.name : undefined),
})

/** The virtual port of an address in a subnet's `spec.vips`. */
export const subnetVipPort = rowKind({
  name: 'lsp-subnet-vip',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => (row.type === 'virtual' && isOfSubnetVip(row, ids) ? row.name : undefined),
})

function isOfSubnetVip(row: OvnNorthbound['Logical_Switch_Port'], ids: Marks): boolean {
  return (
    row.name ===
    subnetVipPortName(ids[externalId.logicalSwitch] ?? '', row.options[virtualPortOption.address] ?? '')
  )
}

/** The port of an OvnEip for a node. One of a node's `ovn0` is as bare, and has its name by that. */
export const eipPort = rowKind({
  name: 'lsp-eip',
  table: 'Logical_Switch_Port',
  identify: (row, ids) =>
    isBare(row, ids) && !row.name.startsWith('node-') && !answersArp(row) ? row.name : undefined,
  resembles: (row, ids) => (isBare(row, ids) ? row.name : undefined),
})

/** How requests of a subnet's ports are answered by DHCP, by subnet and family. */
export const subnetDhcp = rowKind({
  name: 'dhcp-subnet',
  table: 'DHCP_Options',
  exactMaps: ['options'],
  identify: (_row, ids) =>
    ids[externalId.port] === undefined ? dhcpId(ids[externalId.logicalSwitch], ids) : undefined,
})

/** How requests of one port are answered by DHCP, by the name of the port and family. */
export const portDhcp = rowKind({
  name: 'dhcp-port',
  table: 'DHCP_Options',
  exactMaps: ['options'],
  identify: (_row, ids) => dhcpId(ids[externalId.port], ids),
})

function dhcpId(of: string | undefined, ids: Marks): string | undefined {
  const family = /^IPv([46])$/.exec(ids[externalId.protocol] ?? '')?.[1]
  return of === undefined || family === undefined ? undefined : `${of}/${family}`
}
