import { sliceLabel } from '@kube-ovn/annotations'
import { endpointsIn } from '@kube-ovn/endpoints'
import { endpointSlices } from '@kube-ovn/kube-api/core'
import type { Endpoint, EndpointSlice, Resource } from '@kube-ovn/kube-api/core'
import type { Watch } from '../declarations.ts'
import { present } from '../trim.ts'
import { identityOf } from './watches.ts'

/**
 * A slice as it is kept, with its endpoints as JSON: there are more of them than of anything else, each is of several objects and texts,
 * and next to nobody looks at them again.
 */
export interface KeptSlice extends Omit<EndpointSlice, 'endpoints'> {
  readonly endpoints: EndpointSlice['endpoints'] | string
}

/** Slices of a Service, by its `namespace/name`. */
const slicesByService = 'service'

const keptSlices: Resource<KeptSlice> = endpointSlices

export const sliceWatch = {
  resource: keptSlices,
  trim: trimSlice,
  indexes: { [slicesByService]: servicesOf },
} satisfies Watch<KeptSlice>

/** The slices of a Service, by its `namespace/name`. */
export function slicesOf(
  service: string,
  kept: { find(index: typeof slicesByService, value: string): readonly KeptSlice[] },
): readonly EndpointSlice[] {
  return kept.find(slicesByService, service).map((slice) => ({ ...slice, endpoints: endpointsOf(slice) }))
}

function endpointsOf({ addressType, endpoints }: KeptSlice): readonly Endpoint[] {
  if (typeof endpoints === 'string') return JSON.parse(endpoints) as readonly Endpoint[]
  return endpointsIn({ addressType, endpoints })
}

/** The `namespace/name` of the Service that the slice is of; none if it does not say. */
export function servicesOf({ metadata }: KeptSlice): readonly string[] {
  const name = metadata.labels?.[sliceLabel.service] ?? ''
  return name === '' ? [] : [`${metadata.namespace ?? ''}/${name}`]
}

/** Keeps of a slice which addresses may take traffic on which ports. */
function trimSlice(slice: KeptSlice): KeptSlice {
  const { metadata, addressType, ports } = slice
  const name = metadata.labels?.[sliceLabel.service]
  const { namespace } = metadata
  return {
    metadata: {
      ...identityOf(metadata),
      ...(name === undefined ? {} : { labels: { [sliceLabel.service]: name } }),
    },
    addressType,
    endpoints: JSON.stringify(endpointsOf(slice).map((endpoint) => trimEndpoint(endpoint, namespace))),
    ports: ports?.map((port) => present({ name: port.name, port: port.port, protocol: port.protocol })) ?? [],
  }
}

/** Most endpoints are ready, which needs no word, and are pods of the slice's own namespace, which needs none either. */
function trimEndpoint(
  { addresses, conditions: { ready, serving, terminating } = {}, targetRef, nodeName, hints }: Endpoint,
  namespace: string | undefined,
): Endpoint {
  const { kind, name, namespace: of } = targetRef ?? {}
  return {
    addresses,
    ...present({ nodeName, hints }),
    ...(ready === false ? { conditions: present({ ready, serving, terminating }) } : {}),
    ...(kind === 'Pod'
      ? { targetRef: present({ kind, name, namespace: of === namespace ? undefined : of }) }
      : {}),
  }
}
