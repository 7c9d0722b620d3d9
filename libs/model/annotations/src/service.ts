import { textAnnotation } from './annotation.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a Service. */
export const serviceAnnotations = {
  /** Name of the Vpc whose load balancers serve it. Controller; of a Service without endpoints, user. */
  vpc: textAnnotation(`${prefix}/vpc`),
} as const

/** Labels of an EndpointSlice. */
export const sliceLabel = {
  /** Name of its Service. EndpointSlice controller. */
  service: 'kubernetes.io/service-name',
} as const
