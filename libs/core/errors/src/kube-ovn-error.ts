import { shortenedTexts } from './shortened.ts'

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
 * The message is a constant sentence without a full stop; what varies is in `details`. Texts there are told to users and
 * logged, so they are {@link shortened}: what a user wrote may be of any length.
 */
export abstract class KubeOvnError<D extends object = object> extends Error {
  /** Stable, kebab-case, listed in docs/reference/errors.md. */
  abstract readonly code: string
  abstract readonly retry: RetryClass
  readonly details: Readonly<D>

  constructor(message: string, details: D, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.details = shortenedTexts(details)
  }
}

/** What was refused, and what would have been right: the details of most errors that a user has to act upon, with more beside them. */
export interface Refused {
  /** Where it came from: the path of a field, the key of an annotation, a flag. */
  readonly field: string
  /** As given. */
  readonly value: string
  /** What the user should do instead. */
  readonly cure: string
}

/**
 * What an error of ours refuses, for who tells of it in words of its own.
 *
 * @throws whatever is no such error
 */
export function refusalOf(error: unknown): Refused {
  if (!(error instanceof KubeOvnError)) throw error
  const { field = '', value = '', cure = '' } = error.details as Partial<Refused>
  return { field, value, cure }
}
