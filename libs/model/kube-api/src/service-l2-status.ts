import type { KubeObject, Resource } from './core/object.ts'

/**
 * Which node answers for addresses of a Service of type LoadBalancer, as the speakers of MetalLB tell it. Its definition is not ours, and
 * need not be installed.
 *
 * @see https://metallb.io/apis/
 */
export interface ServiceL2Status extends KubeObject {
  readonly status?: {
    readonly node?: string
    readonly serviceNamespace?: string
    readonly serviceName?: string
  }
}

export const serviceL2StatusResource: Resource<ServiceL2Status> = {
  group: 'metallb.io',
  version: 'v1beta1',
  kind: 'ServiceL2Status',
  plural: 'servicel2statuses',
  namespaced: true,
}
