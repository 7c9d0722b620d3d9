export type * from './types.ts'
export * as statement from './statement.ts'
export { InvalidSetError, NftCommandError, NftNotFoundError } from './errors.ts'
export { openNetfilter } from './netfilter.ts'
