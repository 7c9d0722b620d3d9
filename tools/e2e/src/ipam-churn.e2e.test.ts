import {
  chartNamespace,
  countUsableFakeNodes,
  createPlacedPods,
  createPodNamespace,
  deletePlacedPods,
  endProcess,
  eventually,
  fakePods,
  findColumn,
  ovnCentral,
  podProcesses,
  PodTally,
  startFakeNodes,
  untilPodsReady,
} from '@kube-ovn/lab'
import type { ApiObject, Cluster, PlacedPod } from '@kube-ovn/lab'
import { beforeAll, expect, it } from 'vitest'
import { AddressWatch } from './address-watch.ts'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const namespace = 'churn'
const subnet = 'churn'
const fakeNodeCount = 20
/** Most are on fake nodes; a few on real ones take part, through kubelet and the plugin. */
const fakeCount = 288
const realCount = 12
const podCount = fakeCount + realCount
/** In each the controller is killed once, as when the pods are made at first and when they all go. */
const rounds = 8

interface SubnetObject extends ApiObject {
  readonly status?: {
    readonly v4usingIPs: number
    readonly v4availableIPs: number
    readonly v6usingIPs: number
    readonly v6availableIPs: number
  }
}

interface IpObject extends ApiObject {
  readonly spec?: { readonly subnet?: string }
}

let cluster: Cluster
let kills = 0

const describe = describeInLab('has nodes that are not there, and kills what it likes')

const lab = useSuiteLab({ id: 'ipam-churn' }, { afterChart: (made) => startFakeNodes(made, fakeNodeCount) })

beforeAll(async () => {
  ;({ cluster } = lab)
  // Hardly more addresses than pods: those that pods give back are taken again at once.
  await cluster.api.apply({
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: subnet },
    ...{ spec: { cidrBlock: '10.90.0.0/23,fd00:10:90::/119', namespaces: [namespace] } },
  })
  await createPodNamespace(cluster, namespace)
})

describe('addresses', () => {
  it(
    'neither loses nor doubles an address while 300 pods come and go and the controller is killed ten times',
    { timeout: 900_000 },
    async () => {
      await using watch = AddressWatch.start(cluster, namespace)
      await using tally = PodTally.start(cluster, namespace)
      const free = await untilCounted(0)
      let alive = generation(0)
      await killAmid(alive, (pods) => createPlacedPods(cluster, pods))
      for (let round = 1; round <= rounds; round++) {
        await tally.until('ready', podCount)
        await expectExact(free, podCount)
        // Every second one goes while its successor comes.
        const going = alive.filter((_, index) => index % 2 === round % 2)
        const coming = generation(round).filter((_, index) => index % 2 === round % 2)
        const pairs = going.map((pod, index) => ({ pod, successor: coming[index] }))
        await killAmid(pairs, async (some) => {
          await Promise.all([
            deletePlacedPods(
              cluster,
              some.map(({ pod }) => pod),
            ),
            createPlacedPods(
              cluster,
              some.flatMap(({ successor }) => successor ?? []),
            ),
          ])
        })
        alive = [...alive.filter((pod) => !going.includes(pod)), ...coming]
      }
      await tally.until('ready', podCount)
      await expectExact(free, podCount)
      await killAmid(alive, (pods) => deletePlacedPods(cluster, pods))
      await tally.until('created', 0)
      await expectExact(free, 0)
      expect(watch.faults).toEqual([])
      expect(watch.observations).toBeGreaterThan(podCount * rounds)
      expect(kills).toBe(10)
    },
  )

  it('has kept every fake node alive meanwhile', async () => {
    expect(await countUsableFakeNodes(cluster)).toBe(fakeNodeCount)
  })

  it('leaks nothing over all of that', async () => {
    await cluster.api.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await cluster.api.delete({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: subnet } })
    expect(await lab.findLeaks()).toBe('')
  })
})

/** Pods of a round, under names of their own. */
function generation(round: number): readonly PlacedPod[] {
  const first = round * podCount
  const onReal = Array.from({ length: realCount }, (_, index) => ({
    namespace,
    name: `real-${first + index}`,
    nodeName: cluster.nodes[index % cluster.nodes.length]?.name ?? '',
  }))
  return [...onReal, ...fakePods(namespace, fakeCount, fakeNodeCount, first)]
}

/** Does something with many things, and kills the controller when it has just been told of the first half. */
async function killAmid<T>(things: readonly T[], act: (some: readonly T[]) => Promise<void>): Promise<void> {
  const half = Math.floor(things.length / 2)
  await act(things.slice(0, half))
  await Promise.all([killController(), act(things.slice(half))])
}

/**
 * Kills every process of the controller's pod. The pod is deleted as well, because kubelet waits longer with every crash, and the Lease, because
 * its holder is dead.
 */
async function killController(): Promise<void> {
  const [pod] = await untilPodsReady(cluster.api, chartNamespace, 'app=kube-ovn-controller', 1)
  if (pod === undefined) throw new TypeError('no controller runs')
  kills++
  for (const pid of podProcesses(pod.metadata.uid ?? '')) endProcess(pid)
  await cluster.api.delete({ apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata }, 0)
  await cluster.api.delete({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: chartNamespace, name: 'kube-ovn-controller' },
  })
}

/** Addresses of the Subnet that are free, by family. */
interface Free {
  readonly v4: number
  readonly v6: number
}

/** Waits until the Subnet counts so many pods in both families, and says what is free then. The controller may just have been killed. */
function untilCounted(pods: number): Promise<Free> {
  return eventually(
    `Subnet ${subnet} counts ${pods} pods`,
    async () => {
      const { status } = await cluster.api.call<SubnetObject>('GET', `/apis/kubeovn.io/v1/subnets/${subnet}`)
      const isExact = status?.v4usingIPs === pods && status.v6usingIPs === pods
      return isExact ? { v4: status.v4availableIPs, v6: status.v6availableIPs } : undefined
    },
    { timeoutMs: 120_000 },
  )
}

/** Counts, records and ports are those of so many pods, when things have come to rest: a port goes before its record, and both before they are counted, or after. */
async function expectExact(free: Free, pods: number): Promise<void> {
  expect(await untilCounted(pods)).toEqual({ v4: free.v4 - pods, v6: free.v6 - pods })
  const names = (await cluster.api.list(`/api/v1/namespaces/${namespace}/pods`))
    .map(({ metadata }) => `${metadata.name}.${namespace}`)
    .toSorted()
  expect(names).toHaveLength(pods)
  const records = async (): Promise<readonly string[]> =>
    (await cluster.api.list<IpObject>('/apis/kubeovn.io/v1/ips'))
      .filter(({ spec }) => spec?.subnet === subnet)
      .map(({ metadata }) => metadata.name)
      .toSorted()
  await expect.poll(records, patience).toEqual(names)
  const central = await ovnCentral(cluster)
  const find = (column: string): Promise<readonly string[]> =>
    findColumn(central, 'Logical_Switch_Port', column, `external_ids:ls=${subnet}`, 'type=""')
  await expect.poll(async () => (await find('name')).toSorted(), patience).toEqual(names)
  expect(new Set((await find('addresses')).flatMap((text) => text.split(' ').slice(1))).size).toBe(pods * 2)
}

/** Until the controller, which may just have been killed, has done what it was at. */
const patience = { timeout: 120_000, interval: 500 }
