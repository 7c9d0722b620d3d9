import { routerPortName } from '@kube-ovn/ovn-names'
import type { Subnet, SubnetSpec } from '@kube-ovn/kube-api'
import type { SubnetConflictError, SubnetInvalidError, SubnetUnsupportedError } from '../topology/errors.ts'
import { isSameNetwork } from '../topology/network.ts'
import type { Network } from '../topology/network.ts'
import { allNodeAddresses } from '../topology/node-addresses.ts'
import { findConflict } from '../topology/subnet-conflicts.ts'
import { resolveSubnet } from '../topology/subnet-spec.ts'
import type { NormalisedSpec } from '../topology/subnet-spec.ts'
import { KubeOvnError } from '@kube-ovn/errors'
import { kindOf, nameOf, type Owner } from '@kube-ovn/ipam'
import { restoreLeasesOf } from '../restore/leases.ts'
import { strayExcludes } from '../topology/exclude-ips.ts'
import type { ControlWorld } from '../world.ts'
import { storeIndex } from '../world.ts'
import { builtInSpec, withSecondFamily } from './built-in.ts'
import { findHeldGateway } from './held-gateway.ts'
import { findHeldProvider } from './held-provider.ts'

type SubnetError = SubnetInvalidError | SubnetConflictError | SubnetUnsupportedError

/** What decides about a subnet. */
export interface SubnetSnapshot {
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
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/**
 * Reads a subnet and puts it into effect: its addresses can be given out as soon as the specification is valid.
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
  if (judged.network !== undefined) {
    startNetwork(judged.network, world)
    if (judged.network.hasSwitch) world.ipam.setGatewayMac(name, mac)
  }
  const isDeleting = object?.metadata.deletionTimestamp !== undefined
  return {
    name,
    object,
    builtIn,
    ...judged,
    isDeleting,
    holders: isDeleting ? holdersOf(name, world) : [],
    strayExcludes: judged.network === undefined ? [] : strayExcludes(judged.network),
    routerMac: mac,
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
    const others = [...world.networks.values()].filter((other) => other.name !== name)
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

function startNetwork(network: Network, world: ControlWorld): void {
  const before = world.networks.get(network.name)
  if (before !== undefined && isSameNetwork(before, network)) return
  const { lost } = world.ipam.setSubnet({
    name: network.name,
    cidrs: network.cidrs,
    gateways: network.gateways,
    excludeIps: network.excludeIps,
  })
  world.networks.set(network.name, network)
  if (before === undefined) restoreLeasesOf(network.name, world)
  // Pods whose addresses the subnet has no more go on with them, and are told, as are users who reserved some.
  for (const { owner } of lost) if (isForPod(owner)) world.unplacedPods.add(nameOf(owner))
  world.raise('network', network.name)
  world.raise('addresses', network.name)
}

function isForPod(owner: Owner): boolean {
  return ['pod', 'statefulset-pod', 'vm', 'reservation'].includes(kindOf(owner))
}

function endNetwork(name: string, world: ControlWorld): void {
  if (!world.networks.delete(name)) return
  world.ipam.removeSubnet(name)
  world.raise('network', name)
}

/** The address of the router port: the one it has, or had before somebody deleted it, or else a new one. */
function routerMac(port: string, world: ControlWorld): string {
  const known = world.routerMacs.get(port)
  if (known !== undefined) return known
  const mac = world.northbound.find('Logical_Router_Port', 'name', port)[0]?.mac ?? world.newMac()
  world.routerMacs.set(port, mac)
  return mac
}
