import { chosenFrontends, frontendsOf, protocolOf, type Protocol } from '@kube-ovn/endpoints'
import { familyOf, type Family } from '@kube-ovn/ip'
import type { Service } from '@kube-ovn/kube-api/core'
import { flagsOf } from '../flags.ts'
import type { ControlSettings } from '../settings.ts'
import { affinityOf, usualAffinitySeconds } from './affinity.ts'
import { balancerFlags } from './balancer-flags.ts'
import type { Wanted } from './scopes.ts'

/**
 * The families in which OVN leads Pods of the default VPC that ask a node port of a Service at their own node, and which backends they get:
 * all, whatever the policies say, which are about other ways to it. None where the Service has no such port, or OVN is not to.
 */
export function nodePortFamilies(
  service: Service,
  vpc: string,
  settings: Pick<ControlSettings, 'clusterRouter' | 'flags'>,
): readonly Family[] {
  const hasPorts = service.spec?.ports?.some(({ nodePort }) => nodePort !== undefined) === true
  // Addresses of nodes mean nothing in other VPCs, or something else.
  if (!hasPorts || !servesNodePorts(settings) || vpc !== settings.clusterRouter) return []
  return chosenFrontends(service) === undefined ? [...new Set(frontendsOf(service).map(familyOf))] : []
}

/** Whether OVN leads who asks node ports; only where each Service has its own load balancers. */
export function servesNodePorts(settings: Pick<ControlSettings, 'flags'>): boolean {
  const { ovnLbNodePorts, loadBalancerLayout } = flagsOf(balancerFlags, settings)
  return ovnLbNodePorts && loadBalancerLayout === 'per-service'
}

/** The protocols of a Service's node ports, each once. */
export function protocolsOfNodePorts({ spec }: Service): readonly Protocol[] {
  const ports = (spec?.ports ?? []).filter(({ nodePort }) => nodePort !== undefined)
  return [...new Set(ports.map(protocolOf))]
}

/** What a load balancer has to have for a node port. Its address is that of the node: a variable, of one family. */
export function wantedForNodePort(service: Service, protocol: Protocol, family: Family): Wanted {
  return { protocol, affinity: affinityOf(service) && usualAffinitySeconds, nodes: family }
}
