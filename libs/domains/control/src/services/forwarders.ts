import { forwarderLabel, labelValue, lbSvcLabel, serviceAnnotations } from '@kube-ovn/annotations'
import { ingressOf } from '@kube-ovn/endpoints'
import type { Ip } from '@kube-ovn/ip'
import type { KubeObject, Pod, Service, Workload } from '@kube-ovn/kube-api/core'

const prefix = 'lb-svc-'

/** Whether a Service asks for an address in an attached network, from nobody else. */
export function isForwarded({ metadata, spec = {} }: Service): boolean {
  const { type, loadBalancerClass } = spec
  return (
    type === 'LoadBalancer' &&
    loadBalancerClass === undefined &&
    metadata.deletionTimestamp === undefined &&
    serviceAnnotations.attachmentProvider.key in (metadata.annotations ?? {})
  )
}

/**
 * Addresses from outside that OVN may serve. One in an attached network is that of a Pod: in an underlay, the switch of that Pod would send what
 * comes for it from the network to a backend, past the Pod, which alone knows the way back.
 */
export function servedIngress(service: Service): readonly Ip[] {
  return isForwarded(service) ? [] : ingressOf(service)
}

/** Name of what makes the Pod of a Service in an attached network. */
export function forwarderName(service: string): string {
  return `${prefix}${service}`
}

/** Name of the Vip that keeps its address, where its user names none. A Service has no dot in its name. */
export function forwarderVipName(namespace: string, service: string): string {
  return `${prefix}${service}.${namespace}`
}

/** The `namespace/name` of the Service that an object with such a name would be made for; Vips are in no namespace. */
export function serviceOfMade({ metadata: { namespace, name } }: KubeObject): string | undefined {
  if (!name.startsWith(prefix)) return undefined
  const service = name.slice(prefix.length)
  if (namespace !== undefined) return `${namespace}/${service}`
  const dot = service.indexOf('.')
  return dot < 1 ? undefined : `${service.slice(dot + 1)}/${service.slice(0, dot)}`
}

/** Labels by which such a Pod is selected. The original has the same ones. */
export function forwarderLabels(namespace: string, service: string): Readonly<Record<string, string>> {
  return {
    [forwarderLabel.app]: labelValue(forwarderName(service)),
    [forwarderLabel.namespace]: namespace,
    [forwarderLabel.service]: service,
  }
}

/** The `namespace/name` of the Service for which a Pod forwards; none of most. */
export function serviceOfForwarder({ metadata: { namespace = '', labels } }: Pod): string | undefined {
  if (labels?.[forwarderLabel.app]?.startsWith(prefix) !== true) return undefined
  const service = labels[forwarderLabel.service] ?? ''
  return service === '' ? undefined : `${namespace}/${service}`
}

/** Labels of the Pods of a Deployment that is made for a Service, of ours or of the original's; nothing of another one. */
export function forwarderLabelsOf({
  metadata,
  spec,
}: Workload): Readonly<Record<string, string>> | undefined {
  if (!metadata.name.startsWith(prefix)) return undefined
  const labels = spec?.template?.metadata?.labels ?? {}
  const wanted = forwarderLabels(metadata.namespace ?? '', metadata.name.slice(prefix.length))
  return Object.entries(wanted).every(([key, value]) => labels[key] === value) ? wanted : undefined
}

/** Whether a Vip was made for a Service. */
export function isForwarderVip({ metadata: { labels } }: KubeObject): boolean {
  return labels?.[lbSvcLabel] === 'true'
}
