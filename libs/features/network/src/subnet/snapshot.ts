import { routerPortName } from '@kube-ovn/ovn-names'
import { subnetResource, type Subnet, type SubnetSpec } from '@kube-ovn/kube-api'
import type {
  Network,
  NormalisedSpec,
  SubnetConflictError,
  SubnetInvalidError,
  SubnetUnsupportedError,
} from '@kube-ovn/domains-control/topology'
import {
  allNodeAddresses,
  findConflict,
  resolveSubnet,
  strayExcludes,
} from '@kube-ovn/domains-control/topology'
import { KubeOvnError } from '@kube-ovn/errors'
import { hasContent } from '@kube-ovn/reconcile'
import { type Observed, observedOf, storeIndex } from '@kube-ovn/domains-control'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { acceptNetwork, endNetwork, type Acceptance } from './acceptance.ts'
import { builtInSpec, withSecondFamily } from './built-in.ts'
import { findHeldGateway } from './held-gateway.ts'
import { findHeldProvider } from './held-provider.ts'

type SubnetError = SubnetInvalidError | SubnetConflictError | SubnetUnsupportedError

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
  readonly routerMac: string
  /** Which generation its status is about. */
  readonly observed: Observed
  /** Whether its status has a place for what is in effect. */
  readonly canSayInEffect: boolean
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/**
 * Reads a subnet and puts it into effect: its addresses can be given out as soon as the specification is valid and the
 * object's status says what was accepted of it.
 *
 * An edit that can not be used leaves in effect what was there before.
 */
export function observeSubnet(name: string, world: ControlWorld): SubnetSnapshot | undefined {
  const object = world.subnets.get(name)
  const builtIn = builtInSpec(name, world.settings)
  if (object === undefined && builtIn === undefined) {
    endNetwork(name, world)
    return undefined
  }
  const judged = judge(
    name,
    builtIn === undefined ? object?.spec : withSecondFamily(object?.spec ?? builtIn, builtIn),
    world,
  )
  const mac = routerMac(routerPortName(world.settings.clusterRouter, name), world)
  const acceptance = acceptNetwork(name, judged.network, object, world)
  if (acceptance.inEffect?.hasSwitch === true) world.ipam.setGatewayMac(name, mac)
  const isDeleting = object?.metadata.deletionTimestamp !== undefined
  return {
    name,
    object,
    builtIn,
    ...judged,
    ...acceptance,
    isDeleting,
    holders: isDeleting ? holdersOf(name, world) : [],
    strayExcludes: judged.network === undefined ? [] : strayExcludes(judged.network),
    routerMac: mac,
    observed: observedOf(
      subnetResource,
      object,
      world,
      !hasContent(object?.spec ?? {}, judged.normalised ?? {}),
    ),
    canSayInEffect: world.definitions.keeps(subnetResource, 'inEffect'),
    now: world.now(),
  }
}

/** Whoever has an address, and every record of one. */
function holdersOf(name: string, world: ControlWorld): readonly string[] {
  const holders = new Set<string>()
  for (const { owner } of world.ipam.leases(name)) holders.add(owner)
  for (const { metadata } of world.ips.find(storeIndex.ipsBySubnet, name)) {
    const owner = world.ipam.lease(metadata.name)?.owner
    holders.add(owner ?? `ip/${metadata.name}`)
  }
  return [...holders].sort()
}

type Judged = Pick<SubnetSnapshot, 'network' | 'normalised' | 'problem'>

function judge(name: string, spec: SubnetSpec | undefined, world: ControlWorld): Judged {
  try {
    const { network, normalised } = resolveSubnet(name, spec ?? {}, world.settings)
    const others = [...world.networks.values(), ...world.accepted.values()].filter(
      (other) => other.name !== name,
    )
    const problem =
      findConflict(network, others, allNodeAddresses(world.nodes.values())) ??
      findHeldProvider(network, world) ??
      findHeldGateway(network, world)
    return problem === undefined
      ? { network, normalised, problem: undefined }
      : { network: undefined, normalised: undefined, problem }
  } catch (error) {
    if (!isSubnetError(error)) throw error
    return { network: undefined, normalised: undefined, problem: error }
  }
}

function isSubnetError(error: unknown): error is SubnetError {
  return error instanceof KubeOvnError && error.code.startsWith('subnet-')
}

/** The address of the router port: the one it has, or had before somebody deleted it, or else a new one. */
function routerMac(port: string, world: ControlWorld): string {
  const known = world.routerMacs.get(port)
  if (known !== undefined) return known
  const mac = world.northbound.find('Logical_Router_Port', 'name', port)[0]?.mac ?? world.newMac()
  world.routerMacs.set(port, mac)
  return mac
}
