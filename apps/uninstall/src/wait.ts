import { Informer, type InformerOptions, type KubeObject } from '@kube-ovn/kube'
import { systemClock } from '@kube-ovn/process'

/**
 * Waits until the objects that are selected satisfy `isDone`, or `signal` is aborted: then answers false.
 *
 * An API server that cannot be reached meanwhile is asked again and again.
 */
export async function untilObjects<T extends KubeObject>(
  selection: Omit<InformerOptions<T>, 'clock'>,
  signal: AbortSignal,
  isDone: (objects: readonly T[]) => boolean,
): Promise<boolean> {
  await using informer = new Informer({ ...selection, clock: systemClock })
  const done = Promise.withResolvers<boolean>()
  function look(): void {
    if (isDone([...informer.store.values()])) done.resolve(true)
  }
  signal.addEventListener('abort', () => done.resolve(false), { once: true })
  using _changes = informer.onChange(look)
  informer.start(signal)
  // A list without objects brings no change.
  informer.synced.then(look, () => done.resolve(false))
  return await done.promise
}
