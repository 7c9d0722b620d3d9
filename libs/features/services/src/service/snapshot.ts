import type { KubeOvnError } from '@kube-ovn/errors'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import type { DualStackIp, Family } from '@kube-ovn/ip'
import { flagsOf, type ControlWorld } from '@kube-ovn/domains-control'
import { addressesOfVip } from '@kube-ovn/domains-control/addresses'
import {
  announcersOf,
  balancerFlags,
  balancerNames,
  externalFor,
  externalPrefixes,
  filledBalancers,
  healthChecks,
  layoutOf,
  nodePlaces,
  nodePortFamilies,
  scopedFrontends,
  serviceProblem,
  serviceVpcs,
  serviceWatch,
  slicesOf,
  sliceWatch,
  takenFrontends,
} from '@kube-ovn/domains-control/services'
import type {
  BalancerNames,
  Frontend,
  HealthCheck,
  NodePlace,
  TakenFrontend,
} from '@kube-ovn/domains-control/services'

/** What decides about a Service. */
export interface ServiceSnapshot {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly frontends: readonly Frontend[]
  /** Of all nodes; none where every client gets the same backends. */
  readonly places: readonly NodePlace[]
  /** The nodes that answer on their links for its addresses from outside; none while nobody says which. */
  readonly announcers: ReadonlySet<string>
  readonly vpc: string
  /** In which OVN leads Pods that ask its node ports. */
  readonly nodePortFamilies: readonly Family[]
  /** Load balancers that Services share; absent when the VPC serves none. */
  readonly names: BalancerNames | undefined
  readonly layout: ReturnType<typeof layoutOf>
  /** Entries of Services may be where those of the other layout are. */
  readonly isMoving: boolean
  /** What another Service has of its addresses and ports. */
  readonly taken: readonly TakenFrontend[]
  /** How its backends are asked whether they are well, from which addresses by their subnets; absent when they are not. */
  readonly check: (HealthCheck & { readonly sources: Readonly<Record<string, DualStackIp>> }) | undefined
  /** What is not as its user wants it. */
  readonly problem: KubeOvnError | undefined
}

/** Reads a Service and its slices; nothing when OVN serves none. */
export function observeService(key: string, world: ControlWorld): ServiceSnapshot | undefined {
  const service = world.store(serviceWatch).get(key)
  const decided = world.table(serviceVpcs).get(key)
  if (service === undefined || decided === undefined || !world.settings.enableLb) return undefined
  const { vpc, isServed } = decided
  const taken = world.table(takenFrontends).get(key) ?? []
  const slices = slicesOf(key, world.store(sliceWatch))
  const frontends = scopedFrontends(
    service,
    slices,
    flagsOf(balancerFlags, world.settings),
    externalFor(service, { externalPrefixes: world.table(externalPrefixes) }),
  )
  const isAlike = frontends.every(({ scope }) => scope === 'all')
  const places = isAlike ? [] : world.table(nodePlaces).scan()
  const told = {
    service,
    vpc,
    taken,
    slices,
    frontends,
    places,
    nodePortFamilies: nodePortFamilies(service, vpc, world.settings),
    // Pods of other VPCs do not come to the links of nodes.
    announcers: vpc === world.settings.clusterRouter ? announcersOf(key, world) : new Set<string>(),
    layout: layoutOf(world),
    isMoving: layoutOf(world) === 'per-service' && world.table(filledBalancers).some('all', ''),
    problem: serviceProblem(service, decided, taken, frontends),
  }
  return isServed
    ? {
        ...told,
        names: balancerNames(vpc, world),
        check: checkOf(key, world),
      }
    : { ...told, names: undefined, check: undefined }
}

/** The Vip that is named like a subnet has the address from which backends there are asked. */
function checkOf(key: string, world: ControlWorld): ServiceSnapshot['check'] {
  const check = world.table(healthChecks).get(key)
  if (check === undefined) return undefined
  const subnets = [...new Set(check.backends.map(({ subnet }) => subnet))]
  const sources = subnets.flatMap((subnet) => {
    const vip = world.vips.get(subnet)
    const isOfSubnet = vip?.metadata.deletionTimestamp === undefined && vip?.spec?.subnet === subnet
    const had = isOfSubnet ? addressesOfVip(vip) : undefined
    return had === undefined ? [] : [[subnet, had.addresses] as const]
  })
  return { ...check, sources: Object.fromEntries(sources) }
}
