import type { ApiClient } from './client.ts'

/** Of nodes on which routers of VPCs may have their ports outside. */
export const gatewayLabel = 'ovn.kubernetes.io/external-gw'

/** Says which chassis a node is. */
export const chassisAnnotation = 'ovn.kubernetes.io/chassis'

/** Tells the scheduler, and who leads to what is near, where a node is. */
export const zoneLabel = 'topology.kubernetes.io/zone'

/** Gives every node a label, with one value or that of each, as long as the result lives. */
export async function labelNodes(
  api: ApiClient,
  label: string,
  value: string | ((node: string) => string),
): Promise<AsyncDisposable> {
  const nodes = await api.list('/api/v1/nodes')
  const change = (to: (node: string) => string | null): Promise<unknown> =>
    Promise.all(nodes.map(({ metadata: { name } }) => labelNode(api, name, label, to(name))))
  await change(typeof value === 'string' ? () => value : value)
  return { [Symbol.asyncDispose]: async () => void (await change(() => null)) }
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
