export { flowsOfAcl } from './flows.ts'
export { originOfRow, type PolicyRow, type RowOrigin } from './row-origin.ts'
export {
  unmetInAdminPolicy,
  unmetInFirewall,
  unmetInNetworkPolicy,
  type PolicyPod,
  type PolicyWorld,
  type UnmetPart,
} from './unmet-parts.ts'
