import { chartNamespace, upgradeChart, type ChartValues } from '../chart.ts'
import { claimRow, type Check } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { PodObject } from '../kubernetes/workloads.ts'

const parts = ['ovn-central', 'ovs', 'kube-ovn-controller', 'kube-ovn-cni']

/** A value that concerns the controller alone. */
const changed: ChartValues = { controller: { extraEnv: [{ name: 'UPGRADED', value: 'once' }] } }

/** `helm upgrade` with a changed value. */
export const upgrade: Check = {
  name: 'helm upgrade',
  async run(cluster) {
    const before = await podsByPart(cluster)
    await upgradeChart(cluster, changed)
    const after = await podsByPart(cluster)
    const isSame = (part: string): boolean => before.get(part) === after.get(part)
    const rolled = parts.filter((part) => !isSame(part))
    return [
      claimRow(
        'a value of the controller rolls the controller only',
        rolled.join() === 'kube-ovn-controller',
        'kube-ovn-controller',
        rolled.join(', ') || 'nothing',
      ),
    ]
  },
}

async function podsByPart(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const entries = await Promise.all(
    parts.map(async (part) => {
      const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3D${part}`
      const pods = await cluster.api.list<PodObject>(path)
      return [
        part,
        pods
          .map(({ metadata }) => metadata.uid ?? '')
          .sort()
          .join(),
      ] as const
    }),
  )
  return new Map(entries)
}
