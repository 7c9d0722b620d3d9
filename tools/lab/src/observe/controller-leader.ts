import { chartNamespace } from '../chart.ts'
import { waitForObjects } from '../kubernetes/wait.ts'
import { untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import type { Cluster } from '../cluster/cluster.ts'

interface LeaseObject extends ApiObject {
  readonly spec?: { readonly holderIdentity?: string }
}

/**
 * Waits until the controllers run and one of them leads: a leader that was killed holds the Lease until it expires.
 *
 * @throws {LabTimeoutError} if none does
 */
export async function controllerLeader(cluster: Cluster): Promise<PodObject> {
  const masters = cluster.topology.nodes.filter(({ isMaster }) => isMaster).length
  const pods = await untilPodsReady(cluster.api, chartNamespace, 'app=kube-ovn-controller', masters)
  return waitForObjects<LeaseObject, PodObject>(
    cluster.api,
    `/apis/coordination.k8s.io/v1/namespaces/${chartNamespace}/leases?fieldSelector=metadata.name%3Dkube-ovn-controller`,
    'a controller that runs leads',
    ([lease]) =>
      pods.find((pod) => lease?.spec?.holderIdentity?.startsWith(`${pod.metadata.name}_`) === true),
    120_000,
  )
}
