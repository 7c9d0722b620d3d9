import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { backendsOf, backendsOn, endpointText, isOnRouter, protocolOf } from '@kube-ovn/endpoints'
import { problemText } from '@kube-ovn/errors'
import { familyOf, formatIp } from '@kube-ovn/ip'
import { services } from '@kube-ovn/kube-api/core'
import type { Service } from '@kube-ovn/kube-api/core'
import {
  backendsVariable,
  balancerGroup,
  balancerGroupName,
  chassisVariables,
  loadBalancer,
  logicalRouter,
  serviceBalancer,
  serviceBalancerName,
  type RowRef,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch, MapMember } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { balancerColumns, balancerName, isTaken, wantedFor } from '@kube-ovn/domains-control/services'
import type { BalancerNames, Frontend, Scope, Wanted } from '@kube-ovn/domains-control/services'
import { checksOf, type Entry } from './checks.ts'
import { nodePortEntries } from './node-ports.ts'
import type { ServiceSnapshot } from './snapshot.ts'

/**
 * Computes the entries of a Service in the load balancers of its VPC: one for each address and port that has backends.
 *
 * Addresses from outside are not among them, and node ports only where that is wanted: they are those of nodes, which kube-proxy serves.
 *
 * @see ovn-nb(5), Load_Balancer: vips, health_check, ip_port_mappings
 */
export function desiredService(snapshot: ServiceSnapshot): Desired {
  const { service, vpc, names, problem, frontends } = snapshot
  const told = { events: eventsOf(snapshot), ...(problem === undefined ? {} : { problem }) }
  // A slip in an edit takes nothing away.
  if (problem instanceof AnnotationInvalidError) return { ...nothing, ...told, hold: true }
  if (frontends.length === 0) return nothing
  if (names === undefined) return { ...nothing, ...told }
  const entries = [...allEntries(snapshot, names), ...routerEntries(snapshot, names)]
  const own = ownBalancers(entries, snapshot)
  const checks = checksOf(entries, snapshot)
  return {
    ...nothing,
    rows: [...own.rows, ...checks.rows],
    members: [
      ...entries.flatMap(({ member, variables = [] }) => [member, ...variables]),
      ...own.members,
      ...checks.members,
    ],
    ...(snapshot.isMoving ? { withdrawn: sharedEntries(snapshot, names) } : {}),
    patches: [vpcPatch(service, vpc)],
    ...told,
  }
}

function allEntries(snapshot: ServiceSnapshot, names: BalancerNames): readonly Entry[] {
  const own = snapshot.frontends.flatMap((frontend) =>
    frontend.scope === 'all'
      ? entriesOf(frontend, snapshot, names)
      : entriesByNode({ ...frontend, scope: frontend.scope }, snapshot, names),
  )
  return snapshot.layout === 'per-service' ? [...own, ...nodePortEntries(snapshot)] : own
}

/**
 * What a router has of the Service: load balancers of it alone, since what all Services of the VPC share would have whoever is outside reach
 * all of them. Where every Service has its own ones, they are those.
 */
function routerEntries(snapshot: ServiceSnapshot, names: BalancerNames): readonly Entry[] {
  if (!isOnRouter(snapshot.service) || snapshot.layout === 'per-service') return []
  return allEntries({ ...snapshot, layout: 'per-service' }, names)
}

/** What the Service has in load balancers that Services share, in that layout. */
function sharedEntries(snapshot: ServiceSnapshot, names: BalancerNames): readonly MapMember[] {
  const shared = { ...snapshot, layout: 'shared' as const }
  const entries = allEntries(shared, names)
  const mapped = checksOf(entries, shared).members.filter((member) => 'key' in member)
  return [...entries.map(({ member }) => member), ...mapped]
}

function entriesOf(frontend: Frontend, snapshot: ServiceSnapshot, names: BalancerNames): readonly Entry[] {
  const { service, slices, taken } = snapshot
  const family = familyOf(frontend.ip)
  return (service.spec?.ports ?? []).flatMap((port) => {
    const protocol = protocolOf(port)
    const address = formatIp(frontend.ip)
    if (isTaken(taken, address, port)) return []
    const key = endpointText(address, port.port)
    const backends = backendsOf(slices, port, family)
    if (backends.length === 0) return []
    const wanted = wantedFor(service, protocol, frontend)
    const of = balancerOf(wanted, snapshot, names)
    const member = { of, column: 'vips', key, value: backends.join(',') }
    return { of, wanted, family, member }
  })
}

/**
 * Entries whose backends are variables, which each chassis has its own values of: where one has none, its clients are not led anywhere by OVN.
 *
 * An address from outside that wants backends on the node has them where it is announced, if that is known: clients elsewhere reach it as
 * those outside do, by the link.
 *
 * @see ovn-nb(5), Load_Balancer, options:template; an address of IPv6 has to be a variable, too
 */
function entriesByNode(
  frontend: Frontend & { readonly scope: Exclude<Scope, 'all'> },
  snapshot: ServiceSnapshot,
  names: BalancerNames,
): readonly Entry[] {
  const { service, slices, announcers, taken } = snapshot
  const { ip, scope, isLed = false } = frontend
  const announcing =
    scope === 'node-first' && !isLed ? snapshot.places.filter(({ node }) => announcers.has(node)) : []
  // A node that is not there announces nothing.
  const places = announcing.length > 0 ? announcing : snapshot.places
  const family = familyOf(ip)
  const { namespace = '', name } = service.metadata
  return (service.spec?.ports ?? []).flatMap((port) => {
    const protocol = protocolOf(port)
    const address = formatIp(ip)
    if (isTaken(taken, address, port)) return []
    const variable = backendsVariable({ namespace, service: name, address, port: port.port, protocol })
    const addressVariable = `${variable}.vip`
    const variables = places.flatMap((place) => {
      const backends = backendsOn(place, scope, slices, port, family)
      if (backends.length === 0) return []
      const of = ref(chassisVariables, place.chassis)
      const value = { of, column: 'variables', key: variable, value: backends.join(',') }
      return family === 4 ? [value] : [value, { ...value, key: addressVariable, value: address }]
    })
    if (variables.length === 0) return []
    const wanted = wantedFor(service, protocol, frontend)
    const of = balancerOf(wanted, snapshot, names)
    const key = family === 4 ? endpointText(address, port.port) : `^${addressVariable}:${port.port}`
    const member = { of, column: 'vips', key, value: `^${variable}` }
    return { of, wanted, family, member, variables }
  })
}

function balancerOf(
  wanted: Wanted,
  { layout, service: { metadata } }: ServiceSnapshot,
  names: BalancerNames,
): RowRef {
  if (layout === 'shared') return ref(loadBalancer, balancerName(names, wanted))
  return ref(serviceBalancer, serviceBalancerName(metadata.namespace ?? '', metadata.name, wanted))
}

/** The load balancers that the Service has for itself, and their places: the group that is on all switches of the VPC, and its router. */
function ownBalancers(
  entries: readonly Entry[],
  { layout, vpc, service }: ServiceSnapshot,
): Pick<Desired, 'rows' | 'members'> {
  const wants = new Map(
    entries.filter(({ of }) => of.kind === serviceBalancer.name).map(({ of, wanted }) => [of.id, wanted]),
  )
  const places = [
    ...(layout === 'shared' ? [] : [ref(balancerGroup, balancerGroupName(vpc))]),
    ...(isOnRouter(service) ? [ref(logicalRouter, vpc)] : []),
  ]
  return {
    rows: [...wants].map(([id, wanted]) => ({
      kind: serviceBalancer,
      id,
      columns: { name: id, ...balancerColumns(wanted), external_ids: externalIds({}) },
    })),
    members: [...wants.keys()].flatMap((id) =>
      places.map((place) => memberOf(place, 'load_balancer', ref(serviceBalancer, id))),
    ),
  }
}

function vpcPatch({ metadata: { namespace = '', name } }: Service, vpc: string): KubePatch {
  const annotations = { [serviceAnnotations.vpc.key]: serviceAnnotations.vpc.format(vpc) }
  return { resource: services, namespace, name, merge: { metadata: { annotations } } }
}

function eventsOf({ service, problem }: ServiceSnapshot): readonly KubeEvent[] {
  const { namespace = '', name, uid } = service.metadata
  if (problem === undefined || uid === undefined) return []
  const regarding = { resource: services, namespace, name, uid }
  return [{ regarding, type: 'Warning', reason: 'ServiceNotAsWritten', message: problemText(problem) }]
}
