import type { ApiClient } from './client.ts'

/** Of nodes on which routers of VPCs may have their ports outside. */
export const gatewayLabel = 'ovn.kubernetes.io/external-gw'

/** Says which chassis a node is. */
export const chassisAnnotation = 'ovn.kubernetes.io/chassis'

/** Gives every node a label, as long as the result lives. */
export async function labelNodes(api: ApiClient, label: string, value: string): Promise<AsyncDisposable> {
  const nodes = await api.list('/api/v1/nodes')
  const change = (to: string | null): Promise<unknown> =>
    Promise.all(nodes.map(({ metadata: { name } }) => labelNode(api, name, label, to)))
  await change(value)
  return { [Symbol.asyncDispose]: async () => void (await change(null)) }
}

/** Gives a node a label, or takes it away. */
export function labelNode(
  api: ApiClient,
  name: string,
  label: string,
  value: string | null,
): Promise<unknown> {
  return api.mergePatch(`/api/v1/nodes/${name}`, { metadata: { labels: { [label]: value } } })
}
