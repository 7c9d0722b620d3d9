export { accept, acceptances, nothingInEffect, type Acceptance } from './acceptance.ts'
export { keptRouterMacs, type Attachment } from './attachments.ts'
export { builtInSpec } from './built-in.ts'
export {
  SubnetConflictError,
  SubnetInvalidError,
  SubnetUnsupportedError,
  subnetProblemText,
  type SubnetError,
} from './errors.ts'
export { strayExcludes } from './exclude-ips.ts'
export { inEffectOf, isPublished } from './in-effect.ts'
export { ruleKey, unusable, type AclRule, type Isolation } from './isolation.ts'
export { isEnding, namespacesOfPool, poolsOfNamespace, subnetsOfNamespace } from './namespace-bindings.ts'
export { familiesOf, isSameNetwork, type Network } from './network.ts'
export { allNodeAddresses, internalAddresses } from './node-addresses.ts'
export { hasOtherNetwork } from './node-change.ts'
export { decidedPools } from './pool-claims.ts'
export { resolveSubnet, type NormalisedSpec } from './subnet-spec.ts'
