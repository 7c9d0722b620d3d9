import { untilChassisGone } from '../observe/chassis.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { waitForObjects } from '../kubernetes/wait.ts'
import { fakeNamespace } from './plan.ts'
import { fakeNodesPath, endProcess } from './start-fake-nodes.ts'

/** Takes fake pods and nodes away again, until nothing stands for the nodes in the Southbound any more; where there are none, nothing. */
export async function removeFakes(cluster: Cluster): Promise<void> {
  const { api } = cluster
  await api.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: fakeNamespace } })
  // Their process is what says that the pods have ended.
  await waitForObjects(
    api,
    `/api/v1/namespaces?fieldSelector=metadata.name%3D${fakeNamespace}`,
    'the namespace of the fake pods is gone',
    (namespaces) => (namespaces.length === 0 ? true : undefined),
    180_000,
  )
  endProcess(cluster)
  const nodes = await api.list(fakeNodesPath)
  for (const { metadata } of nodes) await api.delete({ apiVersion: 'v1', kind: 'Node', metadata })
  const names = nodes.map(({ metadata }) => metadata.name)
  if (names.length > 0) await untilChassisGone(cluster, names)
}
