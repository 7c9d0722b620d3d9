import type { ConfigOf } from '@kube-ovn/process'
import { vpcLoadBalancerName } from '@kube-ovn/ovn-names'
import { flagsOf } from '../flags.ts'
import { isDefaultVpc } from '../topology/vpc-tenancy.ts'
import type { ControlWorld } from '../world.ts'
import { usualAffinitySeconds } from './affinity.ts'
import { balancerFlags } from './balancer-flags.ts'
import { ownTimeouts } from './own-timeouts.ts'
import { protocols, type Protocol } from './protocols.ts'

/** A load balancer that Services share. */
export interface Balancer {
  readonly name: string
  readonly protocol: Protocol
  /** How long a client stays with its backend after the last packet, seconds; absent without affinity. */
  readonly affinity?: number
}

type Names = ConfigOf<typeof balancerFlags>

/** Names of the load balancers that are always there. */
export interface BalancerNames {
  readonly plain: Readonly<Record<Protocol, string>>
  /** With the usual affinity. */
  readonly session: Readonly<Record<Protocol, string>>
}

/** How the load balancers of a VPC are called. */
export function balancerNames(vpc: string, { settings }: Pick<ControlWorld, 'settings'>): BalancerNames {
  if (!isDefaultVpc(vpc, settings)) return { plain: namesOf(vpc, false), session: namesOf(vpc, true) }
  const names: Names = flagsOf(balancerFlags, settings)
  return {
    plain: {
      tcp: names.clusterTcpLoadbalancer,
      udp: names.clusterUdpLoadbalancer,
      sctp: names.clusterSctpLoadbalancer,
    },
    session: {
      tcp: names.clusterTcpSessionLoadbalancer,
      udp: names.clusterUdpSessionLoadbalancer,
      sctp: names.clusterSctpSessionLoadbalancer,
    },
  }
}

function namesOf(vpc: string, hasAffinity: boolean): Readonly<Record<Protocol, string>> {
  return {
    tcp: vpcLoadBalancerName(vpc, 'tcp', hasAffinity),
    udp: vpcLoadBalancerName(vpc, 'udp', hasAffinity),
    sctp: vpcLoadBalancerName(vpc, 'sctp', hasAffinity),
  }
}

/** The load balancer for a protocol and an affinity. */
export function balancerName(names: BalancerNames, protocol: Protocol, affinity: number | undefined): string {
  if (affinity === undefined) return names.plain[protocol]
  const session = names.session[protocol]
  return affinity === usualAffinitySeconds ? session : `${session}-${affinity}`
}

/** All load balancers of a VPC: two for each protocol, and one for each other time-out that its Services have. */
export function balancersOf(
  vpc: string,
  world: Pick<ControlWorld, 'settings' | 'table'>,
): readonly Balancer[] {
  const names = balancerNames(vpc, world)
  const balancer = (protocol: Protocol, affinity?: number): Balancer => ({
    name: balancerName(names, protocol, affinity),
    protocol,
    ...(affinity === undefined ? {} : { affinity }),
  })
  return [
    ...protocols.flatMap((protocol) => [balancer(protocol), balancer(protocol, usualAffinitySeconds)]),
    ...world
      .table(ownTimeouts)
      .find('vpc', vpc)
      .map(({ protocol, seconds }) => balancer(protocol, seconds)),
  ]
}
