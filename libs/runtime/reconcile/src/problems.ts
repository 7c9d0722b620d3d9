import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'
import type { Logger } from '@kube-ovn/log'
import { parseOwnerMark, type OwnerMark } from './marks.ts'

/** What to do about anything that was thrown. Whatever is not an error of ours is a defect. */
export function retryOf(error: unknown): RetryClass {
  return error instanceof KubeOvnError ? error.retry : 'never'
}

/** Logs what is wrong with each key, once for as long as it stays the same, and when it is over. */
export class ProblemLog {
  readonly #logger: Logger
  readonly #last = new Map<OwnerMark, string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Answers whether it was told: it was not the same before. */
  report(
    owner: OwnerMark,
    error: unknown,
    fields: { readonly attempt: number; readonly retryMs?: number },
  ): boolean {
    const text = describe(error)
    if (this.#last.get(owner) === text) return false
    this.#last.set(owner, text)
    const line = { ...parseOwnerMark(owner), ...fields, err: error }
    if (retryOf(error) === 'never') this.#logger.error('key parked', line)
    else this.#logger.warn(retryOf(error) === 'backoff' ? 'key failed' : 'key waits for a change', line)
    return true
  }

  /** The key has what it wants, or wants nothing any more. */
  clear(owner: OwnerMark): void {
    if (this.#last.delete(owner)) this.#logger.info('problem is over', parseOwnerMark(owner))
  }
}

function describe(error: unknown): string {
  if (error instanceof KubeOvnError) return `${error.code} ${error.message} ${plain(error.details)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function plain(details: object): string {
  return JSON.stringify(details, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
