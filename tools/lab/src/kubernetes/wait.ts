import { setTimeout as delay } from 'node:timers/promises'
import { LabTimeoutError } from '../errors.ts'
import type { ApiClient, ApiObject } from './client.ts'

/**
 * Waits until `until` finds what it looks for in a collection.
 *
 * @param what for the error, e.g. `nodes ready`
 * @param isLacking objects that keep it from being found, which are all that the error shows then
 * @throws {LabTimeoutError} with what was seen last
 */
export async function waitForObjects<T extends ApiObject, R>(
  api: ApiClient,
  path: string,
  what: string,
  until: (objects: readonly T[]) => R | undefined,
  timeoutMs = 180_000,
  isLacking: (object: T) => boolean = () => true,
): Promise<R> {
  let last: readonly T[] = []
  try {
    return await api.follow<T, R>(
      path,
      (objects) => {
        last = objects
        return until(objects)
      },
      AbortSignal.timeout(timeoutMs),
    )
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    const seen = JSON.stringify(last.filter(isLacking).map(summarize)).slice(0, 4000)
    throw new LabTimeoutError('something did not happen in time', { what, timeoutMs, seen }, { cause })
  }
}

/** The part of an object that tells why it is not what one waits for. */
function summarize(object: ApiObject & { readonly status?: unknown; readonly message?: string }): object {
  const { metadata, status, message } = object
  return { name: metadata.name, deleted: metadata.deletionTimestamp, status, message }
}

/**
 * Repeats a question that nothing announces the answer of, e.g. a packet that should get through.
 *
 * @param seen what was seen last, for the error
 * @throws {LabTimeoutError}
 */
export async function eventually<R>(
  what: string,
  ask: () => Promise<R | undefined>,
  {
    timeoutMs = 120_000,
    pauseMs = 100,
    seen = () => '',
  }: { timeoutMs?: number; pauseMs?: number; seen?: () => string } = {},
): Promise<R> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > deadline)
      throw new LabTimeoutError('something did not happen in time', { what, timeoutMs, seen: seen() })
    await delay(pauseMs)
  }
}
