export { CommandFailedError } from './errors.ts'
export { openTestNetwork, type TestNamespace, type TestNetwork } from './network.ts'
export { missingForNamespaces } from './requirements.ts'
