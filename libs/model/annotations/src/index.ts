export type { Annotation, Annotations } from './annotation.ts'
export { AnnotationInvalidError } from './errors.ts'
export {
  controllerFinalizer,
  deprecatedControllerFinalizer,
  ipLabel,
  ipLabels,
  vipLabel,
  vipLabels,
} from './marks.ts'
export { namespaceAnnotations } from './namespace.ts'
export { nodeAnnotations, nodeLabel, readNodeNetwork } from './node.ts'
export type { NodeNetwork } from './node.ts'
export { defaultNicType, podAnnotations, primaryProvider, readPodNetwork, readPodRequest } from './pod.ts'
export type { PodAnnotations, PodNetwork, PodRequest, Provider } from './pod.ts'
export { vipAnnotations } from './vip.ts'
export { vpcAnnotations } from './vpc.ts'
