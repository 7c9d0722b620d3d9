import { chosenFrontends, frontendTexts } from '@kube-ovn/endpoints'
import { endpoints, services } from '@kube-ovn/kube-api/core'
import type { Endpoints, Service } from '@kube-ovn/kube-api/core'
import { isAttachedSubnetKey, serviceAnnotations } from '@kube-ovn/annotations'
import { formatIp } from '@kube-ovn/ip'
import type { Watch } from '../declarations.ts'
import { present } from '../trim.ts'
import { servedIngress } from './forwarders.ts'
import { isRuleServiceName, rulesOf } from './made-services.ts'

const readAnnotations: readonly string[] = Object.values(serviceAnnotations).map(({ key }) => key)

/** Whether a Service asks for an address in an attached network. */
function isInAttachedNetwork({ metadata, spec }: Service): boolean {
  return (
    spec?.type === 'LoadBalancer' && serviceAnnotations.attachmentProvider.key in (metadata.annotations ?? {})
  )
}

/** Services in attached networks, by the Vips that they name. */
export const servicesByVip = 'vip'

/** The Vip that a Service names for its address in an attached network. */
function vipsOf(service: Service): readonly string[] {
  const name = serviceAnnotations.attachmentVip.read(service.metadata.annotations) ?? ''
  return isInAttachedNetwork(service) && name !== '' ? [name] : []
}

/** Services by the addresses under which OVN serves them, or may. */
export const servicesByFrontend = 'frontend'

function addressesOf(service: Service): readonly string[] {
  const outside = chosenFrontends(service) === undefined ? servedIngress(service) : []
  return [...new Set([...frontendTexts(service), ...outside.map((ip) => formatIp(ip))])]
}

/** What was made of a rule, by the name of the Service that is made of it. */
export const madeByRule = 'rule'

export const serviceWatch = {
  resource: services,
  trim: trimService,
  indexes: { [servicesByFrontend]: addressesOf, [madeByRule]: rulesOf, [servicesByVip]: vipsOf },
} satisfies Watch<Service>

/** Endpoints are written where Services of fixed addresses are made. Kubernetes makes slices of them. */
export const endpointsWatch = {
  resource: endpoints,
  trim: trimEndpoints,
  indexes: { [madeByRule]: rulesOf },
} satisfies Watch<Endpoints>

/** Keeps of a Service its addresses, its ports and its affinity; all that a rule says of one that is made of it. */
function trimService(service: Service): Service {
  const { metadata, spec } = service
  const isAttached = isInAttachedNetwork(service)
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => readAnnotations.includes(key) || (isAttached && isAttachedSubnetKey(key)),
  )
  const { clusterIP, clusterIPs, sessionAffinity, sessionAffinityConfig } = spec ?? {}
  const isMade = isRuleServiceName(metadata.name)
  const ports = spec?.ports?.map(({ name, protocol, port, targetPort, nodePort }) =>
    present({ name, protocol, port, targetPort: isMade ? targetPort : undefined, nodePort }),
  )
  const { type, selector, ipFamilies, ipFamilyPolicy } = spec ?? {}
  const ingress = type === 'LoadBalancer' ? service.status?.loadBalancer?.ingress : undefined
  return {
    metadata: {
      ...(isMade || isAttached ? madeIdentityOf(metadata) : identityOf(metadata)),
      // Of two that want one address the older one has it.
      ...(chosenFrontends(service) === undefined && ingress === undefined
        ? {}
        : present({ creationTimestamp: metadata.creationTimestamp })),
      ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    },
    spec: {
      ...present({ clusterIP, clusterIPs, sessionAffinity, sessionAffinityConfig, ports }),
      ...(isMade ? present({ type, selector, ipFamilies, ipFamilyPolicy }) : {}),
      ...(isAttached ? attachedOf(service) : {}),
      ...policiesOf(service),
    },
    ...(ingress === undefined ? {} : { status: { loadBalancer: { ingress } } }),
  }
}

/** What decides about an address in an attached network. */
function attachedOf({ spec = {} }: Service): NonNullable<Service['spec']> {
  const { loadBalancerIP, loadBalancerClass, loadBalancerSourceRanges } = spec
  return present({ loadBalancerIP, loadBalancerClass, loadBalancerSourceRanges })
}

/** Most Services lead to all backends alike, which needs no word. */
function policiesOf({ spec = {} }: Service): NonNullable<Service['spec']> {
  const { type, internalTrafficPolicy, externalTrafficPolicy } = spec
  return {
    ...(internalTrafficPolicy === 'Local' ? { internalTrafficPolicy } : {}),
    ...(type === 'LoadBalancer' ? { type } : {}),
    ...(type === 'LoadBalancer' && externalTrafficPolicy === 'Local' ? { externalTrafficPolicy } : {}),
  }
}

/** Keeps all of those that may be made of a rule, and of others that they are there. */
function trimEndpoints({ metadata, subsets }: Endpoints): Endpoints {
  if (!isRuleServiceName(metadata.name)) return { metadata: identityOf(metadata) }
  const { labels } = metadata
  return { metadata: { ...madeIdentityOf(metadata), ...present({ labels }) }, ...present({ subsets }) }
}

export function identityOf({
  name,
  namespace,
  uid,
  resourceVersion,
}: Service['metadata']): Service['metadata'] {
  return present({ name, namespace, uid, resourceVersion })
}

/** With whom it was made for, and whether it is on its way out, and who holds it then. */
function madeIdentityOf(metadata: Service['metadata']): Service['metadata'] {
  const { ownerReferences, deletionTimestamp } = metadata
  const finalizers = deletionTimestamp === undefined ? undefined : metadata.finalizers
  return { ...identityOf(metadata), ...present({ ownerReferences, deletionTimestamp, finalizers }) }
}
