import { AnnotationInvalidError, readPodNetwork } from '@kube-ovn/annotations'
import {
  contribution,
  policyRoutes,
  type Answer,
  type NodeFeature,
  type PolicyRoutes,
} from '@kube-ovn/fragments'
import { formatIp, networkText } from '@kube-ovn/ip'
import { isAlive, type Pod } from '@kube-ovn/kube-api/core'
import { rowTable } from '@kube-ovn/tables'
import type { SubnetFacts } from '../subnet-facts.ts'
import { agentTable, podTable, subnetFactsTable, theNode } from '../tables.ts'

/** Addresses of a pod of this node in a subnet. */
interface PodSources {
  readonly subnet: string
  readonly sources: readonly string[]
}

const withoutAny: readonly PodSources[] = []

/** The addresses of pods of this node that are at work, by the subnets that they are of. */
const podSourcesTable = rowTable({
  name: 'egress-pod-sources',
  of: podTable,
  row: (pod): readonly PodSources[] => (isAlive(pod) ? sourcesOfPod(pod) : withoutAny),
  indexes: { subnet: (all: readonly PodSources[]) => all.map(({ subnet }) => subnet) },
})

const routesTable = rowTable({
  name: 'egress-routes',
  of: subnetFactsTable,
  reads: { agent: agentTable, podSources: podSourcesTable },
  row(subnet, { agent, podSources }): Answer<PolicyRoutes> | undefined {
    const { external, isDefaultVpc, isOverlay, hasNatOutgoing } = subnet
    if (external === undefined || !isDefaultVpc || !isOverlay || hasNatOutgoing) return undefined
    const sources =
      subnet.gateways.length > 0
        ? sourcesOfGateway(subnet, agent.get(theNode)?.nodeName ?? '')
        : podSources
            .find('subnet', subnet.name)
            .flat()
            .filter((one) => one.subnet === subnet.name)
            .flatMap((one) => one.sources)
    if (sources.length === 0) return undefined
    const { table, priority, addresses } = external
    return {
      want: {
        ...{ subnet: subnet.name, field: 'spec.externalEgressGateway' },
        ...{ table, priority, gateways: addresses, sources: [...new Set(sources)].sort() },
      },
    }
  },
})

/**
 * Routes what leaves the cluster from a subnet to its gateway outside: that of the pods of this node, or of the whole subnet where this
 * node is one of its gateways.
 */
export const egressRoutes: NodeFeature = {
  name: 'egress-routes',
  contributions: [contribution(policyRoutes, routesTable)],
}

function sourcesOfGateway({ gateways, cidrs }: SubnetFacts, nodeName: string): readonly string[] {
  return gateways.some(({ node }) => node === nodeName) ? cidrs.map((cidr) => networkText(cidr)) : []
}

const subnetKey = /^(.+)\.kubernetes\.io\/logical_switch$/

function sourcesOfPod({ metadata: { annotations } }: Pod): readonly PodSources[] {
  return Object.keys(annotations ?? {}).flatMap((key) => {
    const provider = subnetKey.exec(key)?.[1]
    if (provider === undefined) return []
    try {
      const network = readPodNetwork(annotations, provider)
      if (network?.logicalSwitch === undefined) return []
      const { v4, v6 } = network.addresses
      const sources = [
        ...(v4 === undefined ? [] : [`${formatIp(v4)}/32`]),
        ...(v6 === undefined ? [] : [`${formatIp(v6)}/128`]),
      ]
      return [{ subnet: network.logicalSwitch, sources }]
    } catch (error) {
      // Whoever attaches the pod tells of it.
      if (error instanceof AnnotationInvalidError) return []
      throw error
    }
  })
}
