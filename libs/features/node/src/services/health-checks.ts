import { endpointsIn } from '@kube-ovn/endpoints'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { isForProxy } from './served-ports.ts'

/** What a balancer in front is told of a Service when it asks a node. */
export interface HealthCheck {
  readonly port: number
  readonly service: { readonly namespace: string; readonly name: string }
  /** Backends on the node that are ready; what ends does not count, so that nothing new is sent to it. */
  readonly localEndpoints: number
}

/** Reads what is to be told; nothing of a Service that can be asked for by way of any node. */
export function healthCheck(
  service: Service,
  slices: readonly EndpointSlice[],
  node: string,
): HealthCheck | undefined {
  const { spec = {}, metadata } = service
  const { type, externalTrafficPolicy, healthCheckNodePort: port = 0 } = spec
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || port === 0) return undefined
  if (!isForProxy(service)) return undefined
  const local = slices
    .flatMap(endpointsIn)
    .filter(({ nodeName, conditions }) => nodeName === node && conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses)
  const { namespace = '', name } = metadata
  return { port, service: { namespace, name }, localEndpoints: new Set(local).size }
}
