import { KubeOvnError } from '@kube-ovn/errors'

interface NftCommandDetails {
  /** What was attempted: `apply inet kube-ovn`. */
  readonly operation: string
  /** Exit status, or the name of the signal. */
  readonly status: number | string
  /** What nft complained about. */
  readonly nftMessage: string
}

/** Says that nft refused, and in which words. Nothing of the transaction was done. */
export class NftCommandError extends KubeOvnError<NftCommandDetails> {
  readonly code = 'nft-refused'
  readonly retry = 'backoff'

  constructor(details: NftCommandDetails) {
    super('nft refused a transaction', details)
  }
}

/** Says that nft cannot be started: the package nftables is missing from the image. */
export class NftNotFoundError extends KubeOvnError<{ readonly command: string }> {
  readonly code = 'nft-not-found'
  readonly retry = 'on-change'

  constructor(details: { readonly command: string }, options: { readonly cause: unknown }) {
    super('nft cannot be started', details, options)
  }
}

interface InvalidSetDetails {
  readonly set: string
  readonly value: string
  /** What would have been right. */
  readonly expected: string
}

/** Says that the elements of a set cannot be merged. */
export class InvalidSetError extends KubeOvnError<InvalidSetDetails> {
  readonly code = 'nft-invalid-set'
  readonly retry = 'never'

  constructor(details: InvalidSetDetails) {
    super('elements of a set cannot be merged', details)
  }
}
