/**
 * Error codes of the CNI specification that the plugin answers with.
 *
 * @see https://www.cni.dev/docs/spec/#error
 */
export const cniErrorCode = {
  incompatibleVersion: 1,
  invalidEnvironment: 4,
  ioFailure: 5,
  decodingFailure: 6,
  invalidNetworkConfig: 7,
  tryAgainLater: 11,
  pluginNotAvailable: 50,
} as const

/** What a runtime reads from standard output when a verb failed. */
export class CniError extends Error {
  readonly code: number
  readonly details: string

  constructor(code: number, message: string, details = '') {
    super(message)
    this.name = 'CniError'
    this.code = code
    this.details = details
  }
}
