import { KubeOvnError } from '@kube-ovn/errors'

/** Says that nft refused, and in which words. Nothing of the transaction was done. */
export class NftCommandError extends KubeOvnError<{
  /** What was attempted: `apply inet kube-ovn`. */
  readonly operation: string
  /** Exit status, or the name of the signal. */
  readonly status: number | string
  /** What nft complained about. */
  readonly nftMessage: string
}> {
  readonly code = 'nft-refused'
  readonly retry = 'backoff'

  constructor(details: NftCommandError['details']) {
    super('nft refused a transaction', details)
  }
}

/** Says that nft cannot be started: the package nftables is missing from the image. */
export class NftNotFoundError extends KubeOvnError<{ readonly command: string }> {
  readonly code = 'nft-not-found'
  readonly retry = 'on-change'

  constructor(details: NftNotFoundError['details'], options: ErrorOptions) {
    super('nft cannot be started', details, options)
  }
}

/** Says that the kernel did not start nft now: processes, descriptors or memory have run out. */
export class NftNotStartedError extends KubeOvnError<{ readonly command: string; readonly errno: string }> {
  readonly code = 'nft-not-started'
  readonly retry = 'backoff'

  constructor(details: NftNotStartedError['details'], options: ErrorOptions) {
    super('nft was not started', details, options)
  }
}

/** Says that the elements of a set cannot be merged. */
export class InvalidSetError extends KubeOvnError<{
  readonly set: string
  readonly value: string
  /** What would have been right. */
  readonly expected: string
}> {
  readonly code = 'nft-invalid-set'
  readonly retry = 'never'

  constructor(details: InvalidSetError['details']) {
    super('elements of a set cannot be merged', details)
  }
}

/** Says that nft would refuse a table, whatever the node is like. */
export class InvalidTableError extends KubeOvnError<{
  readonly table: string
  /** Where: `chain masquerade`. */
  readonly field: string
  /** What is wrong there: a name that is none or not the only one, or a set or chain that does not exist. */
  readonly value: string
}> {
  readonly code = 'nft-invalid-table'
  readonly retry = 'never'

  constructor(details: InvalidTableError['details']) {
    super('table of the packet filter is not valid', details)
  }
}
