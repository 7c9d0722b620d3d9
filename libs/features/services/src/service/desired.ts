import { serviceAnnotations } from '@kube-ovn/annotations'
import { problemText } from '@kube-ovn/errors'
import { familyOf, formatIp, tryParseIp, type Ip } from '@kube-ovn/ip'
import { services } from '@kube-ovn/kube-api/core'
import type { Service } from '@kube-ovn/kube-api/core'
import { loadBalancer } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch, MapMember } from '@kube-ovn/reconcile'
import { ref } from '@kube-ovn/domains-control'
import { affinityOf, balancerName, protocolOf } from '@kube-ovn/domains-control/services'
import type { BalancerNames } from '@kube-ovn/domains-control/services'
import { backendsOf, endpointText } from './backends.ts'
import type { ServiceSnapshot } from './snapshot.ts'

/**
 * Computes the entries of a Service in the load balancers of its VPC: one for each address and port that has backends.
 *
 * Node ports, and addresses from outside, are not among them: they are those of nodes, which kube-proxy serves.
 *
 * @see ovn-nb(5), Load_Balancer: vips
 */
export function desiredService(snapshot: ServiceSnapshot): Desired {
  const { service, vpc, names, problem } = snapshot
  const frontends = frontendsOf(service)
  if (frontends.length === 0) return nothing
  const told = { events: eventsOf(snapshot), ...(problem === undefined ? {} : { problem }) }
  if (names === undefined) return { ...nothing, ...told }
  return {
    ...nothing,
    members: frontends.flatMap((frontend) => entriesOf(frontend, snapshot, names)),
    patches: [vpcPatch(service, vpc)],
    ...told,
  }
}

/** Its cluster addresses: none of a headless Service, or of one that is a name for another one. */
function frontendsOf({ spec }: Service): readonly Ip[] {
  const texts = spec?.clusterIPs ?? [spec?.clusterIP ?? '']
  return texts.flatMap((text) => tryParseIp(text) ?? [])
}

function entriesOf(
  frontend: Ip,
  { service, slices }: ServiceSnapshot,
  names: BalancerNames,
): readonly MapMember[] {
  const affinity = affinityOf(service)
  return (service.spec?.ports ?? []).flatMap((port) => {
    const backends = backendsOf(slices, port, familyOf(frontend))
    if (backends.length === 0) return []
    return {
      of: ref(loadBalancer, balancerName(names, protocolOf(port), affinity)),
      column: 'vips',
      key: endpointText(formatIp(frontend), port.port),
      value: backends.join(','),
    }
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
