import { KubeGoneError, pods, type KubeClient, type Selection } from '@kube-ovn/kube'

/** Waits until there is no pod of the controller. */
export async function untilControllerGone(client: KubeClient, namespace: string): Promise<void> {
  const selection: Selection = { namespace, labelSelector: 'app=kube-ovn-controller' }
  for (;;) {
    const { items, resourceVersion } = await client.list(pods, selection)
    if (items.length === 0) return
    await untilNextDeletion(client, selection, resourceVersion)
  }
}

async function untilNextDeletion(
  client: KubeClient,
  selection: Selection,
  resourceVersion: string,
): Promise<void> {
  try {
    for await (const event of await client.watchStream(pods, { ...selection, resourceVersion })) {
      if (event.type === 'DELETED') return
    }
  } catch (error) {
    // The history is gone: the next list tells.
    if (!(error instanceof KubeGoneError)) throw error
  }
}
