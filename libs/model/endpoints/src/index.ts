export { backendsOf, backendsOn, endpointText, type Place } from './backends.ts'
export { protocolOf, protocols, type Protocol } from './protocols.ts'
