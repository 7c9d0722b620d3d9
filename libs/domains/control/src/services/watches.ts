import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import type { Endpoint, EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { serviceAnnotations, sliceLabel } from '@kube-ovn/annotations'
import type { Watch } from '../declarations.ts'
import { present } from '../trim.ts'

const readAnnotations: readonly string[] = Object.values(serviceAnnotations).map(({ key }) => key)

export const serviceWatch: Watch<Service> = { resource: services, trim: trimService }

/** Slices of a Service, by its `namespace/name`. */
export const slicesByService = 'service'

export const sliceWatch = {
  resource: endpointSlices,
  trim: trimSlice,
  indexes: { [slicesByService]: servicesOf },
} satisfies Watch<EndpointSlice>

/** The `namespace/name` of the Service that the slice is of; none if it does not say. */
export function servicesOf({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.[sliceLabel.service] ?? ''
  return name === '' ? [] : [`${metadata.namespace ?? ''}/${name}`]
}

/** Keeps of a Service its addresses, its ports and its affinity. */
function trimService({ metadata, spec }: Service): Service {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) =>
    readAnnotations.includes(key),
  )
  const { clusterIP, clusterIPs, sessionAffinity, sessionAffinityConfig } = spec ?? {}
  const ports = spec?.ports?.map(({ name, protocol, port }) => present({ name, protocol, port }))
  return {
    metadata: {
      ...identityOf(metadata),
      ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    },
    spec: present({ clusterIP, clusterIPs, sessionAffinity, sessionAffinityConfig, ports }),
  }
}

/** Keeps of a slice which addresses may take traffic on which ports. */
function trimSlice({ metadata, addressType, endpoints, ports }: EndpointSlice): EndpointSlice {
  const name = metadata.labels?.[sliceLabel.service]
  const { namespace } = metadata
  return {
    metadata: {
      ...identityOf(metadata),
      ...(name === undefined ? {} : { labels: { [sliceLabel.service]: name } }),
    },
    addressType,
    endpoints: endpoints?.map((endpoint) => trimEndpoint(endpoint, namespace)) ?? [],
    ports: ports?.map((port) => present({ name: port.name, port: port.port, protocol: port.protocol })) ?? [],
  }
}

/** Most endpoints are ready, which needs no word, and are pods of the slice's own namespace, which needs none either. */
function trimEndpoint(
  { addresses, conditions: { ready, serving, terminating } = {}, targetRef }: Endpoint,
  namespace: string | undefined,
): Endpoint {
  const { kind, name, namespace: of } = targetRef ?? {}
  return {
    addresses,
    ...(ready === false ? { conditions: present({ ready, serving, terminating }) } : {}),
    ...(kind === 'Pod'
      ? { targetRef: present({ kind, name, namespace: of === namespace ? undefined : of }) }
      : {}),
  }
}

function identityOf({ name, namespace, uid, resourceVersion }: Service['metadata']): Service['metadata'] {
  return present({ name, namespace, uid, resourceVersion })
}
