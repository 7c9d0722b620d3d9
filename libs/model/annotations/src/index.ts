export type { AddressPool } from './address-pool.ts'
export type { Annotation, Annotations } from './annotation.ts'
export { isMirrorKey, nicKey } from './asked.ts'
export { bgpAnnotations, type BgpPolicy } from './bgp.ts'
export { AnnotationInvalidError } from './errors.ts'
export {
  forwarderAnnotations,
  forwarderLabel,
  type ForwardedFamily,
  type ForwardedPort,
  type Forwards,
} from './forwarder.ts'
export {
  appliedAnnotation,
  controllerFinalizer,
  deprecatedControllerFinalizer,
  hasControllerFinalizer,
  ipLabel,
  ipLabels,
  ovnEipLabel,
  ovnEipLabels,
  vipLabel,
  vipLabels,
  bgpPeerLabel,
  bgpPeerLabels,
  dnsNameResolverLabel,
  labelValue,
  speakerApp,
  iptablesEipLabel,
  lbSvcLabel,
  vpcDnsLabel,
} from './marks.ts'
export { kubevirtAnnotations, kubevirtLabel } from './kubevirt.ts'
export { kubectlAnnotations } from './kubectl.ts'
export { aclLoggingAnnotation, namespaceAnnotations } from './namespace.ts'
export { deviceAnnotation, networkAnnotations } from './networks.ts'
export type { NetworkSelection } from './networks.ts'
export { multiNetworkPolicyAnnotations, networkPolicyAnnotations } from './network-policy.ts'
export {
  nodeAnnotations,
  externalGatewayLabel,
  nodeLabel,
  nodeTaint,
  readNodeNetwork,
  sharedGatewayLabel,
} from './node.ts'
export type { NodeNetwork } from './node.ts'
export {
  networksOfMarks,
  ofProviderNetworks,
  providerNetworkAnnotations,
  providerNetworkKeysOf,
  readProviderNetworkRequest,
  type ProviderNetworkKeys,
  type ProviderNetworkRequest,
} from './provider-network.ts'
export {
  addressRequestKeys,
  allocatedNics,
  defaultNicType,
  interfaceAnnotations,
  podAnnotations,
  isOvnProvider,
  networkOfNic,
  givenProviders,
  longestProvider,
  placedNics,
  primaryProvider,
  readPodNetwork,
  readInterfaceRequest,
  readPodRequest,
  staleNicKeys,
} from './pod.ts'
export type { PlacedNic, PodAnnotations, PodNetwork, PodRequest, Provider } from './pod.ts'
export type { PodRoute } from './pod-routes.ts'
export { isQosKey, qosAnnotations, readNicQos, type NicQos, type NicRate } from './qos.ts'
export {
  endpointsLabel,
  isAttachedSubnetKey,
  serviceAnnotations,
  serviceLabel,
  sliceLabel,
} from './service.ts'
export { readBorrowedVips, readPortVips, readSharedVips, vipAnnotations } from './vip.ts'
export { isExternalVpc, vpcAnnotations } from './vpc.ts'
