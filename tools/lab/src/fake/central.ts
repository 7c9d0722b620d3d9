import { chartNamespace } from '../chart.ts'
import { bracketed } from '../cluster/topology.ts'
import { addressesOfPod, isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'

const ports = { northbound: 6641, southbound: 6642 } as const

/** Where the servers of a database listen, as `ovsdb-client` takes it; this machine and the lab's own reach them. */
export async function databaseEndpoints(
  cluster: Cluster,
  database: keyof typeof ports,
): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3Dovn-central`
  const members = (await cluster.api.list<PodObject>(path)).filter(isPodReady)
  return members.flatMap((pod) =>
    addressesOfPod(pod)
      .slice(0, 1)
      .map((address) => `tcp:${bracketed(address)}:${ports[database]}`),
  )
}
