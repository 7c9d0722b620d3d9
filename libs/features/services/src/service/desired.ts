import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { problemText } from '@kube-ovn/errors'
import { familyOf, formatIp } from '@kube-ovn/ip'
import { services } from '@kube-ovn/kube-api/core'
import type { Service } from '@kube-ovn/kube-api/core'
import { backendsVariable, chassisVariables, loadBalancer } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { ref } from '@kube-ovn/domains-control'
import {
  backendsOf,
  backendsOn,
  balancerName,
  endpointText,
  protocolOf,
  wantedFor,
} from '@kube-ovn/domains-control/services'
import type { BalancerNames, Frontend, Scope } from '@kube-ovn/domains-control/services'
import { checksOf, type Entry } from './checks.ts'
import type { ServiceSnapshot } from './snapshot.ts'

/**
 * Computes the entries of a Service in the load balancers of its VPC: one for each address and port that has backends.
 *
 * Node ports, and addresses from outside, are not among them: they are those of nodes, which kube-proxy serves.
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
  const entries = frontends.flatMap((frontend) =>
    frontend.scope === 'all'
      ? entriesOf(frontend, snapshot, names)
      : entriesByNode({ ...frontend, scope: frontend.scope }, snapshot, names),
  )
  const checks = checksOf(entries, snapshot)
  return {
    ...nothing,
    rows: checks.rows,
    members: [...entries.flatMap(({ member, variables = [] }) => [member, ...variables]), ...checks.members],
    patches: [vpcPatch(service, vpc)],
    ...told,
  }
}

function entriesOf(
  frontend: Frontend,
  { service, slices, taken }: ServiceSnapshot,
  names: BalancerNames,
): readonly Entry[] {
  const family = familyOf(frontend.ip)
  return (service.spec?.ports ?? []).flatMap((port) => {
    const protocol = protocolOf(port)
    const key = endpointText(formatIp(frontend.ip), port.port)
    if (taken.some((other) => other.entry === key && other.protocol === protocol)) return []
    const backends = backendsOf(slices, port, family)
    if (backends.length === 0) return []
    const balancer = balancerName(names, wantedFor(service, protocol, frontend))
    const member = { of: ref(loadBalancer, balancer), column: 'vips', key, value: backends.join(',') }
    return { balancer, protocol, family, member }
  })
}

/**
 * Entries whose backends are variables, which each chassis has its own values of: where one has none, its clients are not led anywhere by OVN.
 *
 * @see ovn-nb(5), Load_Balancer, options:template; an address of IPv6 has to be a variable, too
 */
function entriesByNode(
  frontend: Frontend & { readonly scope: Exclude<Scope, 'all'> },
  { service, slices, places }: ServiceSnapshot,
  names: BalancerNames,
): readonly Entry[] {
  const { ip, scope } = frontend
  const family = familyOf(ip)
  const { namespace = '', name } = service.metadata
  return (service.spec?.ports ?? []).flatMap((port) => {
    const protocol = protocolOf(port)
    const address = formatIp(ip)
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
    const balancer = balancerName(names, wantedFor(service, protocol, frontend))
    const key = family === 4 ? endpointText(address, port.port) : `^${addressVariable}:${port.port}`
    const member = { of: ref(loadBalancer, balancer), column: 'vips', key, value: `^${variable}` }
    return { balancer, protocol, family, member, variables }
  })
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
