import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { problemText } from '@kube-ovn/errors'
import { familyOf, formatIp, type Ip } from '@kube-ovn/ip'
import { services } from '@kube-ovn/kube-api/core'
import type { Service } from '@kube-ovn/kube-api/core'
import { loadBalancer } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { ref } from '@kube-ovn/domains-control'
import {
  affinityOf,
  backendsOf,
  balancerName,
  endpointText,
  frontendsOf,
  protocolOf,
} from '@kube-ovn/domains-control/services'
import type { BalancerNames } from '@kube-ovn/domains-control/services'
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
  const { service, vpc, names, problem } = snapshot
  const frontends = frontendsOf(service)
  const told = { events: eventsOf(snapshot), ...(problem === undefined ? {} : { problem }) }
  // A slip in an edit takes nothing away.
  if (problem instanceof AnnotationInvalidError) return { ...nothing, ...told, hold: true }
  if (frontends.length === 0) return nothing
  if (names === undefined) return { ...nothing, ...told }
  const entries = frontends.flatMap((frontend) => entriesOf(frontend, snapshot, names))
  const checks = checksOf(entries, snapshot)
  return {
    ...nothing,
    rows: checks.rows,
    members: [...entries.map(({ member }) => member), ...checks.members],
    patches: [vpcPatch(service, vpc)],
    ...told,
  }
}

function entriesOf(
  frontend: Ip,
  { service, slices, taken }: ServiceSnapshot,
  names: BalancerNames,
): readonly Entry[] {
  const affinity = affinityOf(service)
  return (service.spec?.ports ?? []).flatMap((port) => {
    const protocol = protocolOf(port)
    const key = endpointText(formatIp(frontend), port.port)
    if (taken.some((other) => other.entry === key && other.protocol === protocol)) return []
    const backends = backendsOf(slices, port, familyOf(frontend))
    if (backends.length === 0) return []
    const balancer = balancerName(names, protocol, affinity)
    const member = { of: ref(loadBalancer, balancer), column: 'vips', key, value: backends.join(',') }
    return { balancer, protocol, family: familyOf(frontend), member }
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
