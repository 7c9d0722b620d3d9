import type { Endpoint, EndpointSlice, Service } from '@kube-ovn/kube-api/core'

export interface ServiceFields extends NonNullable<Service['spec']> {
  readonly name?: string
  readonly namespace?: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** A Service as a user writes it: fields of the specification beside a name. It has port 80 for TCP unless it says otherwise. */
export function service(fields: ServiceFields = {}): Service {
  const { name = 'web', namespace = 'default', annotations, ...spec } = fields
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations }) },
    spec: { ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  }
}

export interface EndpointSliceFields {
  readonly name?: string
  readonly namespace?: string
  /** Name of the Service that it is of. */
  readonly service?: string
  readonly addressType?: EndpointSlice['addressType']
  /** An address stands for an endpoint that is ready. */
  readonly endpoints?: readonly (string | Endpoint)[]
  readonly ports?: EndpointSlice['ports']
}

/** A slice of the Service of its name: port 8080 for TCP, unless it says otherwise. */
export function endpointSlice(fields: EndpointSliceFields = {}): EndpointSlice {
  const { name = 'web-1', namespace = 'default', service: owner = 'web', addressType = 'IPv4' } = fields
  const { endpoints = [], ports = [{ name: '', port: 8080, protocol: 'TCP' }] } = fields
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': owner } },
    addressType,
    endpoints: endpoints.map((endpoint) =>
      typeof endpoint === 'string' ? { addresses: [endpoint], conditions: { ready: true } } : endpoint,
    ),
    ports,
  }
}
