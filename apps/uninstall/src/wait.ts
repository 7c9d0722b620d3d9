import {
  KubeGoneError,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Selection,
} from '@kube-ovn/kube'

/** Waits until the objects that are selected satisfy `isDone`, or `selection.signal` is aborted: then answers false. */
export async function untilObjects<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  selection: Selection,
  isDone: (objects: readonly T[]) => boolean,
): Promise<boolean> {
  for (;;) {
    try {
      const { items, resourceVersion } = await client.list(resource, selection)
      if (isDone(items)) return true
      await untilChange(client, resource, { ...selection, resourceVersion })
    } catch (error) {
      if (selection.signal?.aborted === true) return false
      // The history is gone: the next list tells.
      if (!(error instanceof KubeGoneError)) throw error
    }
  }
}

async function untilChange<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  options: Selection & { readonly resourceVersion: string },
): Promise<void> {
  for await (const event of await client.watchStream(resource, options)) {
    if (event.type !== 'BOOKMARK') return
  }
}
