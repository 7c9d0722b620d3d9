export { backendsOf, backendsOn, endpointsIn, endpointText, servingBackends, type Place } from './backends.ts'
export {
  chosenFrontends,
  frontendAnnotation,
  frontendsOf,
  frontendTexts,
  ingressOf,
  isOnRouter,
} from './frontends.ts'
export { servicePrefixesOf } from './service-prefixes.ts'
export { protocolOf, protocols, type Protocol } from './protocols.ts'
