import { servicePrefixesOf } from '@kube-ovn/endpoints'
import { contribution, nftables, sysctls, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import type { Node, ServiceCidr } from '@kube-ovn/kube-api/core'
import type { Table } from '@kube-ovn/netfilter'
import { rowTable } from '@kube-ovn/tables'
import { internalAddresses } from '../kube-objects.ts'
import {
  fixedSources,
  natOutgoingPrefixes,
  routedPrefixes,
  subnetsWithNatRules,
  type SubnetFacts,
} from '../subnet-facts.ts'
import { agentTable, nodeTable, serviceCidrTable, subnetFactsTable, type AgentFacts } from '../tables.ts'
import { desiredHostFirewall } from './desired.ts'
import type { HostFirewallSnapshot } from './snapshot.ts'
import { desiredSysctls } from './sysctls.ts'

/** All that the packet filter follows from; no row while the Node is not known. */
const snapshotTable = rowTable({
  name: 'host-firewall',
  of: agentTable,
  reads: { nodes: nodeTable, subnets: subnetFactsTable, serviceCidrs: serviceCidrTable },
  row(agent, { nodes, subnets, serviceCidrs }): HostFirewallSnapshot | undefined {
    const own = nodes.get(agent.nodeName)
    if (own === undefined) return undefined
    return snapshotOf(agent, {
      own,
      others: nodes.scan().filter((node) => node !== own),
      subnets: subnets.scan(),
      serviceCidrs: serviceCidrs.scan(),
    })
  },
})

const waitForNode = { wait: 'the API server has not sent the Node yet' } as const

const filterTable = rowTable({
  name: 'host-firewall-filter',
  of: agentTable,
  reads: { snapshots: snapshotTable },
  row(_agent, { snapshots }, key): Answer<Table> {
    const snapshot = snapshots.get(key)
    return snapshot === undefined ? waitForNode : { want: desiredHostFirewall(snapshot) }
  },
})

const sysctlTable = rowTable({
  name: 'host-firewall-sysctls',
  of: agentTable,
  reads: { snapshots: snapshotTable },
  row(_agent, { snapshots }, key): Answer<ReadonlyMap<string, string>> {
    const snapshot = snapshots.get(key)
    if (snapshot === undefined) return waitForNode
    const { subnets } = snapshot
    return {
      want: desiredSysctls({
        hasIpv4: subnets.some((prefix) => !prefix.includes(':')),
        hasIpv6: subnets.some((prefix) => prefix.includes(':')),
      }),
    }
  },
})

/**
 * The node's packet filter, and the settings by which it forwards. What they contain changes with subnets, nodes and Service
 * prefixes, not with pods.
 */
export const hostFirewall: NodeFeature = {
  name: 'host-firewall',
  contributions: [contribution(nftables, filterTable), contribution(sysctls, sysctlTable)],
}

interface Facts {
  readonly own: Node
  readonly others: readonly Node[]
  readonly subnets: readonly SubnetFacts[]
  readonly serviceCidrs: readonly ServiceCidr[]
}

function snapshotOf(agent: AgentFacts, { own, others, subnets, serviceCidrs }: Facts): HostFirewallSnapshot {
  const addresses = internalAddresses(own)
  return {
    subnets: routedPrefixes(subnets),
    natOutgoing: natOutgoingPrefixes(subnets),
    natRules: subnetsWithNatRules(subnets),
    fixedSources: fixedSources(subnets, agent.nodeName),
    services: servicePrefixesOf(serviceCidrs, agent.fallbackServicePrefixes),
    otherNodes: [...new Set(others.flatMap((node) => internalAddresses(node)))].sort(),
    nodeAddresses: [false, true].flatMap(
      (isV6) => addresses.find((address) => address.includes(':') === isV6) ?? [],
    ),
  }
}
