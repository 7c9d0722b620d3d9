import { labelValue, ovnEipLabel, sharedGatewayLabel } from '@kube-ovn/annotations'
import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { formatIp, tryParseCidr, tryParseIp, tryParseMac } from '@kube-ovn/ip'
import { ovnEipType, readInEffect, type OvnEip } from '@kube-ovn/kube-api'
import { rowTable, sourceTable } from '@kube-ovn/tables'
import { mtuOfNetwork } from '../kube-objects.ts'
import { bridgeTable } from '../local-bridges.ts'
import { interfaceTable } from '../local-interfaces.ts'
import { integrationBridge, isInstalled } from '../local-ovs.ts'
import { vlanTagTable, waitForVlan } from '../provider-networks/feature.ts'
import { nodeObject, type NodeStatement } from '../sinks/node-object.ts'
import { ovsRows, type OvsFragment } from '../sinks/ovs-rows.ts'
import { agentTable, nodeTable, ovnEipTable, subnetTable } from '../tables.ts'
import {
  desiredNodeEip,
  identityOf,
  nodeEipLink,
  type DesiredNodeEip,
  type GatewayNic,
  type MadeNic,
} from './desired.ts'
import { gatewayNics } from './gateway-nic-sink.ts'
import type { ExternalSubnet } from './snapshot.ts'

/** How long the NIC may not work before nobody is sent to it any more: a restart of OVS takes less. BFD does not wait for it. */
const graceMs = 15_000

/** Subnets of physical networks. */
const externalSubnetTable = rowTable({
  name: 'external-subnets',
  of: subnetTable,
  row(subnet): ExternalSubnet | undefined {
    const { vlan = '', cidrBlock = '', gateway = '', mtu = 0 } = readInEffect(subnet) ?? {}
    if (vlan === '') return undefined
    return {
      ...{ name: subnet.metadata.name, vlan, mtu },
      cidrs: cidrBlock.split(',').filter((text) => tryParseCidr(text) !== undefined),
      gateways: ipsOf(gateway.split(',')),
      checksGateways: subnet.spec?.disableGatewayCheck !== true,
    }
  },
  // OvnEips name it by a label, which has no room for a long one.
  indexes: { label: ({ name }: ExternalSubnet) => [labelValue(name)] },
})

/** The addresses of routers in external Subnets. */
const routerEipTable = rowTable({
  name: 'router-eips',
  of: ovnEipTable,
  row(eip): { readonly subnet: string; readonly ips: readonly string[] } | undefined {
    if (eip.status?.type !== ovnEipType.routerPort) return undefined
    return { subnet: subnetLabel(eip), ips: addressesOf(eip) }
  },
  indexes: { subnet: ({ subnet }: { readonly subnet: string }) => [subnet] },
})

/** All that the NIC should be, or what is still missing. */
const nicTable = rowTable({
  name: 'node-eip',
  of: agentTable,
  reads: {
    eips: ovnEipTable,
    subnets: externalSubnetTable,
    routers: routerEipTable,
    nodes: nodeTable,
    tags: vlanTagTable,
    bridges: bridgeTable,
  },
  row({ nodeName }, { eips, subnets, routers, nodes, tags, bridges }): Answer<DesiredNodeEip> | undefined {
    const eip = eips.get(nodeName)
    const type = eip?.status?.type ?? eip?.spec?.type
    if (eip === undefined || type !== ovnEipType.nodePort || eip.metadata.deletionTimestamp !== undefined)
      return undefined
    const addresses = addressesOf(eip)
    const mac = tryParseMac(eip.status?.macAddress ?? '')
    if (addresses.length === 0 || mac === undefined)
      return { wait: 'kube-ovn-controller has not given the OvnEip of this node an address yet' }
    const [subnet] = subnets.find('label', subnetLabel(eip))
    if (subnet === undefined) return { wait: 'the Subnet of the OvnEip of this node is on no Vlan' }
    const on = tags.get(subnet.vlan)
    if (on === undefined) return { wait: `the Vlan of Subnet ${subnet.name} does not exist` }
    if (!on.isInEffect) return waitForVlan
    const mtu = mtuOfNetwork(nodes.get(nodeName)?.metadata.labels ?? {}, on.network)
    if (mtu === undefined) return { wait: `this node is not connected to ProviderNetwork ${on.network} yet` }
    const bridge = bridges.get(integrationBridge)
    if (bridge === undefined) return { wait: `ovn-controller has not made ${integrationBridge} yet` }
    return {
      want: desiredNodeEip({
        ...{ nodeName, addresses, mac, subnet, mtu },
        routers: routers.find('subnet', subnetLabel(eip)).flatMap(({ ips }) => ips),
        hasUserspaceDatapath: bridge.datapathType === 'netdev',
      }),
    }
  },
})

const linkTable = rowTable({
  name: 'node-eip-link',
  of: nicTable,
  row: (answer): Answer<GatewayNic> => ('want' in answer ? { want: answer.want.nic } : answer),
})

/** By name of the link. */
export const madeNicTable = sourceTable<MadeNic>({ name: 'made-nics' })

const portTable = rowTable({
  name: 'node-eip-port',
  of: nicTable,
  reads: { made: madeNicTable },
  row(answer, { made }): Answer<OvsFragment> {
    if (!('want' in answer)) return answer
    const nic = made.get(nodeEipLink)
    if (nic === undefined) return { wait: `${nodeEipLink} is not made yet` }
    const row = { name: nic.hostEnd, external_ids: answer.want.externalIds }
    return { want: { port: { bridge: integrationBridge, row } } }
  },
})

const labelTable = rowTable({
  name: 'node-eip-label',
  of: agentTable,
  reads: { nics: nicTable, nodes: nodeTable, interfaces: interfaceTable, made: madeNicTable },
  row({ nodeName }, { nics, nodes, interfaces, made }, key): Answer<NodeStatement> | undefined {
    const node = nodes.get(nodeName)
    if (node === undefined) return { wait: 'the API server has not sent the Node yet' }
    const nic = nics.get(key)
    const saying = (value: 'true' | 'false') => ({ want: { labels: { [sharedGatewayLabel]: value } } })
    if (nic === undefined) {
      const isSaid = (node.metadata.labels?.[sharedGatewayLabel] ?? 'false') !== 'false'
      return isSaid ? saying('false') : undefined
    }
    const { hostEnd = '', answered } = made.get(nodeEipLink) ?? {}
    const works =
      'want' in nic && answered === identityOf(nic.want.nic) && isInstalled(interfaces.get(hostEnd))
    return works ? saying('true') : { ...saying('false'), afterMs: graceMs }
  },
})

/**
 * The node's own way out to an external Subnet, if there is an OvnEip of its name: routers of VPCs that share their traffic among nodes send it
 * there, and it goes on to the gateway of that Subnet.
 */
export const nodeEip: NodeFeature = {
  name: 'node-eip',
  contributions: [
    contribution(gatewayNics, linkTable),
    contribution(ovsRows, portTable),
    contribution(nodeObject, labelTable),
  ],
}

function subnetLabel({ metadata }: OvnEip): string {
  return metadata.labels?.[ovnEipLabel.subnet] ?? ''
}

function addressesOf({ status }: OvnEip): readonly string[] {
  return ipsOf([status?.v4Ip ?? '', status?.v6Ip ?? ''])
}

/** What is no address is passed over. */
function ipsOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const ip = tryParseIp(text.trim())
    return ip === undefined ? [] : [formatIp(ip)]
  })
}
