import { addressesAnnotation } from './addresses.ts'
import { annotation, textAnnotation } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a Service. */
export const serviceAnnotations = {
  /** Name of the Vpc whose load balancers serve it. Controller; of a Service without Pods behind it, user. */
  vpc: textAnnotation(`${prefix}/vpc`),
  /** User: name of the Vpc whose load balancers serve it, wherever its backends are. Counts with the next one only. */
  logicalRouter: textAnnotation(`${prefix}/logical_router`),
  /** User: name of the Subnet of its backends. */
  logicalSwitch: textAnnotation(`${prefix}/logical_switch`),
  /** Addresses that lead to the backends in place of the Service's own. Controller, of a SwitchLBRule; user, of a headless Service. */
  switchLbVip: addressesAnnotation(`${prefix}/switch_lb_vip`),
  /** Addresses that lead to the backends from outside of the VPC, too, by way of its router. Controller, of a RouterLBRule. */
  routerLbVip: addressesAnnotation(`${prefix}/router_lb_vip`),
  /** User, of type LoadBalancer: the attached network, `<name>.<namespace>` of its definition, in which it has an address. */
  attachmentProvider: textAnnotation(`${prefix}/attachmentprovider`),
  /** User, beside that: name of the Vip that has the address. */
  attachmentVip: textAnnotation(`${prefix}/vip`),
  /** User: whether backends are asked if they are well. Those of an address of choice are by default, which holds for any other text, too. */
  healthCheck: annotation(
    `${prefix}/service_health_check`,
    (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
    String,
  ),
} as const

/** Whether an annotation of a Service in an attached network names the Subnet there: `<provider>.kubernetes.io/logical_switch`. User. */
export function isAttachedSubnetKey(key: string): boolean {
  return key.endsWith('.kubernetes.io/logical_switch')
}

/** Labels of a Service. */
export const serviceLabel = {
  /** Names who serves it in the place of the usual proxy. Users. */
  proxyName: 'service.kubernetes.io/service-proxy-name',
  /** Has the usual proxy serve nobody at its cluster address. Users. */
  headless: 'service.kubernetes.io/headless',
} as const

/** Labels of an EndpointSlice. */
export const sliceLabel = {
  /** Name of its Service. EndpointSlice controller. */
  service: 'kubernetes.io/service-name',
} as const

/** Labels of Endpoints. */
export const endpointsLabel = {
  /** On those that Kubernetes makes by a selector. Endpoints controller. */
  managedBy: 'endpoints.kubernetes.io/managed-by',
} as const
