import { watch } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Yields once, and after each change of a file, whoever makes it: several that come at a time are one. A volume of the kubelet's is changed by
 * a link beside the file, so it is the directory that is looked at.
 *
 * @throws what the watch ends with, such as a directory that is not there
 */
export async function* eachChange(file: string, signal: AbortSignal): AsyncGenerator<void, void, undefined> {
  let change = Promise.withResolvers<void>()
  using stack = new DisposableStack()
  const watcher = stack.adopt(
    watch(dirname(file), () => change.resolve()),
    (one) => one.close(),
  )
  watcher.on('error', (error) => change.reject(error))
  signal.addEventListener('abort', () => change.resolve(), { once: true })
  while (!signal.aborted) {
    // What happens from here on is of the next turn.
    change = Promise.withResolvers<void>()
    yield
    await change.promise
  }
}
