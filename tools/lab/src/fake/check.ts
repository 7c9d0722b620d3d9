import { durationRow, equalRow, type Check, type CheckRow } from '../checks/check.ts'
import { ofStack } from '../cluster/topology.ts'
import { addressesOfPod, isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import { findColumn, ovnCentral } from '../observe/northbound.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { createPlacedPods, deletePlacedPods, fakePods } from './fake-pods.ts'
import { fakeNamespace, type FakePlan } from './plan.ts'
import { PodTally } from './pod-tally.ts'
import { countUsableFakeNodes } from './start-fake-nodes.ts'

/** How long one more pod may take beside all the others. */
const oneMoreLimitMs = 5_000

interface IpObject extends ApiObject {
  readonly spec?: { readonly namespace?: string }
}

/** What holds of a cluster that has these fake nodes and pods. */
export function fakesCheck(plan: FakePlan): Check {
  return {
    name: 'fake nodes and pods',
    async run(cluster) {
      return [
        equalRow('nodes that are Ready', plan.nodes, await countUsableFakeNodes(cluster)),
        ...(plan.pods > 0 ? [...(await podRows(cluster, plan)), await oneMoreRow(cluster, plan)] : []),
      ]
    },
  }
}

async function podRows(cluster: Cluster, { pods }: FakePlan): Promise<readonly CheckRow[]> {
  const [all, records, central] = await Promise.all([
    cluster.api.list<PodObject>(`/api/v1/namespaces/${fakeNamespace}/pods`),
    cluster.api.list<IpObject>('/apis/kubeovn.io/v1/ips'),
    ovnCentral(cluster),
  ])
  const families = ofStack(cluster.topology.stack, { ipv4: 'v4', ipv6: 'v6' }).length
  const up = await findColumn(central, 'Logical_Switch_Port', 'name', 'up=true')
  const ofFakes = up.filter((name) => name.endsWith(`.${fakeNamespace}`))
  return [
    equalRow('pods that are Ready', pods, all.filter(isPodReady).length),
    equalRow('addresses that they have', pods * families, new Set(all.flatMap(addressesOfPod)).size),
    equalRow(
      'their IP objects',
      pods,
      records.filter(({ spec }) => spec?.namespace === fakeNamespace).length,
    ),
    equalRow('their ports that are up', pods, ofFakes.length),
  ]
}

/** From the creation of one more pod until it is Ready. */
async function oneMoreRow(cluster: Cluster, { nodes, pods }: FakePlan): Promise<CheckRow> {
  await using tally = PodTally.start(cluster, fakeNamespace)
  await tally.until('ready', pods)
  const one = fakePods(fakeNamespace, 1, nodes, pods)
  const startedMs = performance.now()
  await createPlacedPods(cluster, one)
  await tally.until('ready', pods + 1)
  const ms = performance.now() - startedMs
  await deletePlacedPods(cluster, one)
  await tally.until('created', pods)
  return durationRow('one more pod is Ready', ms, oneMoreLimitMs)
}
