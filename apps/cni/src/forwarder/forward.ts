import { readFile, rm, writeFile } from 'node:fs/promises'
import { AnnotationInvalidError } from '@kube-ovn/annotations'
import { errorCode } from '@kube-ovn/errors'
import { applyForwards, type ForwardingNamespace } from '@kube-ovn/features-node'
import type { Logger } from '@kube-ovn/log'
import type { ForwarderConfig } from './config.ts'
import { eachChange } from './each-change.ts'

/**
 * Forwards what the file says, and what it says by then whenever it is written anew, until the signal is aborted.
 *
 * Between two changes it costs nothing. A text that can not be read changes nothing, and is told in the log.
 *
 * @throws what {@link applyForwards} throws of the namespace: the container is started anew then
 */
export async function forward(
  { forwardsFile, readyFile }: Pick<ForwarderConfig, 'forwardsFile' | 'readyFile'>,
  namespace: ForwardingNamespace,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  // Of a container before this one.
  await rm(readyFile, { force: true })
  let applied: string | undefined
  let refused: string | undefined
  for await (const _ of eachChange(forwardsFile, signal)) {
    const text = await readText(forwardsFile)
    // Before the controller has written it there is nothing.
    if (text === '' || text === applied || text === refused) continue
    try {
      await applyForwards(text, namespace)
      await writeFile(readyFile, '')
      applied = text
      refused = undefined
      log.info('forwards are in effect', { forwards: text })
    } catch (error) {
      if (!(error instanceof AnnotationInvalidError)) throw error
      refused = text
      log.warn('forwards can not be read, those before stay', { err: error })
    }
  }
}

async function readText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ''
    throw error
  }
}
