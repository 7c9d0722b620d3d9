import { protocols, type Protocol } from '@kube-ovn/endpoints'
import type { ConfigOf } from '@kube-ovn/process'
import { vpcLoadBalancerName } from '@kube-ovn/ovn-names'
import { flagsOf } from '../flags.ts'
import { isDefaultVpc } from '../topology/vpc-tenancy.ts'
import type { ControlWorld } from '../world.ts'
import { usualAffinitySeconds } from './affinity.ts'
import { balancerFlags } from './balancer-flags.ts'
import { filledBalancers, layoutOf } from './layout.ts'
import { ownBalancers } from './own-balancers.ts'
import type { Wanted } from './scopes.ts'

/** A load balancer that Services share. */
export interface Balancer extends Wanted {
  readonly name: string
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

/** The load balancer that has what is wanted. */
export function balancerName(names: BalancerNames, { protocol, affinity, nodes }: Wanted): string {
  const name = affinity === undefined ? names.plain[protocol] : names.session[protocol]
  // By the hash of a client's address, for which no time-out counts.
  if (nodes !== undefined) return `${name}-nodes-v${nodes}`
  return affinity === undefined || affinity === usualAffinitySeconds ? name : `${name}-${affinity}`
}

/** All load balancers of a VPC: two for each protocol, and those that its Services need beside. */
export function balancersOf(
  vpc: string,
  world: Pick<ControlWorld, 'settings' | 'table'>,
): readonly Balancer[] {
  const names = balancerNames(vpc, world)
  const usual = protocols.flatMap((protocol) =>
    [undefined, usualAffinitySeconds].map((affinity): Wanted => ({ protocol, affinity, nodes: undefined })),
  )
  const always = usual.map((wanted) => ({ name: balancerName(names, wanted), ...wanted }))
  if (layoutOf(world) === 'per-service') return [...always, ...leftOf(always, world)]
  const further = world.table(ownBalancers).find('vpc', vpc)
  return [
    ...always,
    ...further.map(({ protocol, affinity, nodes }) => {
      const wanted = { protocol, affinity, nodes }
      return { name: balancerName(names, wanted), ...wanted }
    }),
  ]
}

const furtherSuffix = /^-(?:\d+|nodes-v[46])$/

/** Those that Services have not left yet, of those that were made for them. */
function leftOf(always: readonly Balancer[], world: Pick<ControlWorld, 'table'>): readonly Balancer[] {
  return world
    .table(filledBalancers)
    .scan()
    .filter(({ name: left }) =>
      always.some(({ name }) => left.startsWith(name) && furtherSuffix.test(left.slice(name.length))),
    )
}
