import {
  accept,
  builtInSpec,
  isPublished,
  namespacesElsewhere,
  nothingInEffect,
  strayExcludes,
} from '@kube-ovn/domains-control/topology'
import type {
  Acceptance,
  Contradiction,
  GatewayProblem,
  Interconnection,
  Network,
  NormalisedSpec,
  Querier,
  SubnetError,
} from '@kube-ovn/domains-control/topology'
import { type Observed, observedOf, storeIndex } from '@kube-ovn/domains-control'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { answeredVips, isSubnetOwner, subnetOwnerOf } from '@kube-ovn/domains-control/addresses'
import { subnetResource, type Subnet, type SubnetSpec } from '@kube-ovn/kube-api'
import { hasContent } from '@kube-ovn/reconcile'
import { findHeldGateway } from './held-gateway.ts'
import { findHeldProvider } from './held-provider.ts'
import { findHeldVpc } from './held-vpc.ts'

/** What decides about a subnet. */
export interface SubnetSnapshot extends Acceptance {
  readonly name: string
  /** Absent for a built-in subnet that has yet to be created. */
  readonly object: Subnet | undefined
  /** The specification that a missing built-in subnet is created with. */
  readonly builtIn: SubnetSpec | undefined
  /** What the specification means, unless it can not be used. */
  readonly network: Network | undefined
  readonly normalised: NormalisedSpec | undefined
  readonly problem: SubnetError | undefined
  readonly isDeleting: boolean
  /** Who still has addresses of a subnet that is being deleted, in alphabetical order. */
  readonly holders: readonly string[]
  /** Entries of `excludeIps` without effect. */
  readonly strayExcludes: readonly string[]
  /** Rules of its own of which OVN takes either of two. */
  readonly contradictions: readonly Contradiction[]
  /** Namespaces that it names and that belong to another VPC. */
  readonly namespacesElsewhere: readonly string[]
  /** Why its traffic does not leave the cluster as it was asked for. */
  readonly gatewayProblem: GatewayProblem | undefined
  /** Gateway nodes that it names and that are not there, while others are. */
  readonly unknownGateways: readonly string[]
  /** Of the router, for what comes from it; absent is the main one. */
  readonly routeTable: string | undefined
  /** Absent while it does not snoop multicast. */
  readonly querier: Querier | undefined
  /** Absent while the router has no port on it. */
  readonly routerMac: string | undefined
  /** Addresses for which the router answers beside its own, sorted. */
  readonly answered: readonly string[]
  /** Addresses of the router's port beside the gateway; absent where there is no such port. */
  readonly interconnection: Interconnection | undefined
  /** Which generation its status is about. */
  readonly observed: Observed
  /** Whether its status has a place for what is in effect. */
  readonly canSayInEffect: boolean
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/**
 * Reads a subnet, and decides how far it has come: its addresses can be given out as soon as the specification is valid and the
 * object's status says what was accepted of it.
 *
 * An edit that can not be used leaves in effect what was there before.
 */
export function observeSubnet(name: string, world: ControlWorld): SubnetSnapshot | undefined {
  const object = world.subnets.get(name)
  const builtIn = builtInSpec(name, world.settings)
  if (object === undefined && builtIn === undefined) return undefined
  const before = world.subnetStates.get(name)?.acceptance ?? nothingInEffect
  const canSayInEffect = world.definitions.keeps(subnetResource, 'inEffect')
  const judged = judge(name, world)
  // What no status can say is not waited for.
  const acceptance = accept(
    before,
    judged.network,
    (network) => !canSayInEffect || isPublished(network, object),
  )
  const isDeleting = object?.metadata.deletionTimestamp !== undefined
  const { network, normalised, problem, declined } = judged
  return {
    ...{ name, object, builtIn, network, normalised, problem },
    ...acceptance,
    declined,
    isDeleting,
    holders: isDeleting ? holdersOf(name, world) : [],
    strayExcludes: network === undefined ? [] : strayExcludes(network),
    contradictions: network?.hasSwitch === true ? (world.contradictions.get(name) ?? []) : [],
    namespacesElsewhere: namespacesElsewhere(name, world),
    gatewayProblem: world.gatewayStates.get(name)?.problem,
    unknownGateways: world.gatewayStates.get(name)?.strangers ?? [],
    routeTable: world.routeTables.get(name),
    querier: world.queriers.get(name),
    routerMac: acceptance.inEffect === undefined ? undefined : routerMac(acceptance.inEffect, world),
    answered: world
      .table(answeredVips)
      .find('subnet', name)
      .flatMap(({ addresses }) => addresses)
      .toSorted(),
    interconnection: world.interconnections.get(name),
    observed: observedOf(subnetResource, object, world, !hasContent(object?.spec ?? {}, normalised ?? {})),
    canSayInEffect,
    now: world.now(),
  }
}

/** Whoever has an address, and every record of one, but for what is the subnet's own. */
function holdersOf(name: string, world: ControlWorld): readonly string[] {
  const holders = new Set<string>()
  for (const { owner } of world.ipam.leases(name)) if (!isSubnetOwner(owner)) holders.add(owner)
  for (const record of world.ips.find(storeIndex.ipsBySubnet, name)) {
    if (subnetOwnerOf(record) !== undefined) continue
    const { metadata } = record
    const owner = world.ipam.lease(metadata.name)?.owner
    holders.add(owner ?? `ip/${metadata.name}`)
  }
  return [...holders].sort()
}

interface Judged extends Pick<SubnetSnapshot, 'network' | 'normalised' | 'problem'> {
  readonly declined: Network | undefined
}

/** To what others are and what it says itself comes who has its addresses. */
function judge(name: string, world: ControlWorld): Judged {
  const { wanted, problem, acceptance } = world.subnetStates.get(name) ?? {}
  if (wanted === undefined || problem !== undefined) return { ...refused, problem }
  const { network, normalised } = wanted
  const { inEffect } = acceptance ?? nothingInEffect
  const held =
    findHeldProvider(network, inEffect, world) ??
    findHeldVpc(network, inEffect, world) ??
    findHeldGateway(network, inEffect, world)
  return held === undefined
    ? { network, normalised, problem: undefined, declined: undefined }
    : { ...refused, problem: held, declined: network }
}

const refused = { network: undefined, normalised: undefined, declined: undefined } as const

/** The address of the router port: the one it has, or had before somebody deleted it, or else a new one. */
function routerMac(
  { name: subnet, isRouted, isInterconnected }: Network,
  world: ControlWorld,
): string | undefined {
  if (!isRouted) return undefined
  if (isInterconnected) return world.interconnections.get(subnet)?.mac
  return world.routerMacs.get(subnet) ?? world.keptRouterMacs.get(subnet) ?? world.newMac()
}
