export { leaveBundleIfThrows, leaveBundleOnFailure } from './bundle.ts'
