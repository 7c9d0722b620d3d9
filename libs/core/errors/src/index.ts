/**
 * What the kernel does about a failure.
 *
 * `backoff`: the world may change by itself, try again later. `on-change`: the user must act, wait for a
 * change of the inputs. `never`: a defect of ours; the key is parked and counted.
 */
export type RetryClass = 'backoff' | 'on-change' | 'never'

/**
 * Is the root of every error that this project throws on purpose.
 *
 * The message is a constant sentence without a full stop; what varies is in `details`.
 */
export abstract class KubeOvnError<D extends object = object> extends Error {
  /** Stable, kebab-case, listed in docs/reference/errors.md. */
  abstract readonly code: string
  abstract readonly retry: RetryClass
  readonly details: Readonly<D>

  constructor(message: string, details: D, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.details = details
  }
}
