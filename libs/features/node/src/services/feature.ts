import { nodeLabel } from '@kube-ovn/annotations'
import { servicePrefixesOf } from '@kube-ovn/endpoints'
import { contribution, nftables, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import type { Table } from '@kube-ovn/netfilter'
import { parseCidr } from '@kube-ovn/ip'
import { rowTable } from '@kube-ovn/tables'
import { linkTable } from '../host-links.ts'
import { internalAddresses } from '../kube-objects.ts'
import { prefixesLeavingElsewhere, routedPrefixes } from '../subnet-facts.ts'
import {
  agentTable,
  nodeTable,
  serviceCidrTable,
  serviceTable,
  sliceTable,
  subnetFactsTable,
  theNode,
} from '../tables.ts'
import { desiredServices, planOf, type PortPlan, type ServicesSnapshot } from './desired.ts'
import { healthChecks } from './health-check-sink.ts'
import { healthCheck, type HealthCheck } from './health-checks.ts'
import { clusterAddressesOf, isForProxy, servedPorts, type ServedPort } from './served-ports.ts'
import { flowFrontends, staleFlows, type FlowFrontends } from './stale-flow-sink.ts'

/** Where backends are that would answer clients outside by another node. */
const leavingTable = rowTable({
  name: 'prefixes-leaving-elsewhere',
  of: agentTable,
  reads: { subnets: subnetFactsTable },
  row({ nodeName, servesServices }, { subnets }): readonly string[] | undefined {
    return servesServices ? prefixesLeavingElsewhere(subnets.scan(), nodeName) : undefined
  },
})

/** What the node serves of each Service. */
const servedTable = rowTable({
  name: 'served-services',
  of: serviceTable,
  reads: { slices: sliceTable, nodes: nodeTable, agent: agentTable, leaving: leavingTable },
  row(service, { slices, nodes, agent, leaving }, key): readonly ServedPort[] | undefined {
    const { nodeName, servesServices = false } = agent.get(theNode) ?? {}
    if (!servesServices || nodeName === undefined) return undefined
    const own = nodes.get(nodeName)
    const zone = own?.metadata.labels?.[nodeLabel.zone]
    const isLocal = service.spec?.externalTrafficPolicy === 'Local'
    const ports = servedPorts(
      service,
      slices.find('service', key),
      { node: nodeName, zone },
      {
        leavingElsewhere: isLocal ? (leaving.get(theNode) ?? []).map((prefix) => parseCidr(prefix)) : [],
        addresses: internalAddresses(own),
      },
    )
    return ports.length === 0 ? undefined : ports
  },
})

const healthTable = rowTable({
  name: 'service-health',
  of: serviceTable,
  reads: { slices: sliceTable, agent: agentTable },
  row(service, { slices, agent }, key): Answer<HealthCheck> | undefined {
    const { nodeName, servesServices = false } = agent.get(theNode) ?? {}
    if (!servesServices || nodeName === undefined) return undefined
    const want = healthCheck(service, slices.find('service', key), nodeName)
    return want === undefined ? undefined : { want }
  },
})

const planTable = rowTable({
  name: 'service-plans',
  of: servedTable,
  row: (ports): readonly PortPlan[] => ports.map(planOf),
})

const snapshotTable = rowTable({
  name: 'services-snapshot',
  of: agentTable,
  reads: { plans: planTable, subnets: subnetFactsTable, serviceCidrs: serviceCidrTable },
  row(agent, { plans, subnets, serviceCidrs }): ServicesSnapshot | undefined {
    if (!agent.servesServices) return undefined
    return {
      // What two want the older Service has, as in OVN.
      plans: plans
        .scan()
        .flat()
        .sort((a, b) => (a.port.rank < b.port.rank ? -1 : 1)),
      services: servicePrefixesOf(serviceCidrs.scan(), agent.fallbackServicePrefixes),
      allocated: servicePrefixesOf(serviceCidrs.scan(), []),
      pods: routedPrefixes(subnets.scan()),
    }
  },
})

const filterTable = rowTable({
  name: 'services-filter',
  of: agentTable,
  reads: { snapshots: snapshotTable },
  row(_agent, { snapshots }, key): Answer<Table> | undefined {
    const snapshot = snapshots.get(key)
    return snapshot === undefined ? undefined : { want: desiredServices(snapshot) }
  },
})

/** Cluster addresses that another proxy serves. */
const othersTable = rowTable({
  name: 'services-of-others',
  of: serviceTable,
  row: (service): readonly string[] | undefined =>
    isForProxy(service) ? undefined : clusterAddressesOf(service),
})

const flowTable = rowTable({
  name: 'services-flows',
  of: agentTable,
  reads: { snapshots: snapshotTable, links: linkTable, others: othersTable },
  row(_agent, { snapshots, links, others }, key): Answer<FlowFrontends> | undefined {
    const snapshot = snapshots.get(key)
    if (snapshot === undefined) return undefined
    const local = links.scan().flatMap(({ addresses }) => addresses.map((cidr) => cidr.split('/')[0] ?? ''))
    return { want: flowFrontends(snapshot, { local, others: others.scan().flat() }) }
  },
})

/** Serves Services to the node itself, and to who comes by way of it, in the place of kube-proxy. */
export const services: NodeFeature = {
  name: 'services',
  contributions: [
    contribution(nftables, filterTable),
    contribution(staleFlows, flowTable),
    contribution(healthChecks, healthTable),
  ],
}
