import { textAnnotation } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a Service. */
export const serviceAnnotations = {
  /** Name of the Vpc whose load balancers serve it. Controller; of a Service without Pods behind it, user. */
  vpc: textAnnotation(`${prefix}/vpc`),
  /** User: name of the Vpc whose load balancers serve it, wherever its backends are. Counts with the next one only. */
  logicalRouter: textAnnotation(`${prefix}/logical_router`),
  /** User: name of the Subnet of its backends. */
  logicalSwitch: textAnnotation(`${prefix}/logical_switch`),
} as const

/** Labels of an EndpointSlice. */
export const sliceLabel = {
  /** Name of its Service. EndpointSlice controller. */
  service: 'kubernetes.io/service-name',
} as const
