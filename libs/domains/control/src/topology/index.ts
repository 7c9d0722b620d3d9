export {
  SubnetConflictError,
  SubnetInvalidError,
  SubnetUnsupportedError,
  subnetProblemText,
} from './errors.ts'
export { strayExcludes } from './exclude-ips.ts'
export { inEffectOf, isPublished } from './in-effect.ts'
export { isEnding, namespacesOfPool, poolsOfNamespace, subnetsOfNamespace } from './namespace-bindings.ts'
export { familiesOf, isSameNetwork, type Network } from './network.ts'
export { allNodeAddresses, hasOtherAddresses, internalAddresses } from './node-addresses.ts'
export { hasOtherNetwork } from './node-change.ts'
export { providerOfSubnet } from './provider.ts'
export { findConflict } from './subnet-conflicts.ts'
export { resolveSubnet, type NormalisedSpec } from './subnet-spec.ts'
