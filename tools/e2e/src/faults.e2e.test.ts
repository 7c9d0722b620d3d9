import { setTimeout as delay } from 'node:timers/promises'
import {
  addNode,
  addressesOfPod,
  applyAll,
  applyFault,
  deleteAll,
  eventually,
  findLeaks,
  idlePod,
  injectFault,
  insideContainer,
  lossDuring,
  outagesByFault,
  nbctl,
  nodeNamed,
  ovnCentral,
  pingAll,
  pathsBetween,
  placeOf,
  readExample,
  rebootNode,
  removeNode,
  renderDifferences,
  renderLoss,
  runAt,
  standingFaults,
  strike,
  takeDownPod,
  takeSnapshot,
  tunnelEnds,
  untilPodsReady,
} from '@kube-ovn/lab'
import type { ApiObject, Blow, Cluster, Fault, Flow, PathLoss, PodObject, WatchedPath } from '@kube-ovn/lab'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { plantedPlaces, plantLeaks } from './planted-leaks.ts'
import { useSuiteLab } from './suite-lab.ts'

let cluster: Cluster
let pods: readonly PodObject[]

const describe = describeInLab('breaks things and repairs them')

const lab = useSuiteLab({ id: 'faults' })

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
  pods = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
})

afterAll(() => deleteAll(cluster.api, readExample('01-two-subnets', 'dual')))

afterEach(() => {
  const standing = standingFaults(cluster)
  if (standing.length > 0) throw new Error(`still broken: ${JSON.stringify(standing)}`)
})

type ComponentTarget = Extract<Blow, { readonly target: unknown }>['target']

/** Pods of the example on these nodes, both families, from the first to the second. */
function paths(fromNode: string, toNode: string): readonly WatchedPath[] {
  const source = pods.find((pod) => pod.spec.nodeName === fromNode)
  const target = pods.find((pod) => pod !== source && pod.spec.nodeName === toNode)
  if (source === undefined || target === undefined) return expect.unreachable()
  return pathsBetween(cluster, source, target)
}

/** Between the nodes, in the direction in which the example's pods allow it. */
function acrossNodes(): readonly WatchedPath[] {
  return paths('node-1', 'node-2')
}

function expectLoss(losses: readonly PathLoss[], isExpected: (loss: PathLoss) => boolean): void {
  expect(losses).toHaveLength(2)
  expect(losses.filter((loss) => !isExpected(loss)).map(renderLoss)).toEqual([])
}

/** A second of them, where the machine gets them out in time. */
const standingPackets = 20

/** Lets a fault stand for a while. */
async function stand(fault: Fault, flow: Flow): Promise<void> {
  await using _ = await injectFault(cluster, fault)
  await flow.packets(standingPackets)
}

/** Whether nothing gets through while a fault stands, and all does before and after, but for what a busy machine loses. */
function isCutOnce(loss: PathLoss): boolean {
  const [cut, ...others] = loss.outages.toSorted((a, b) => b.packets - a.packets)
  return (
    cut !== undefined &&
    // A data path that waits for a processor sends some of them when it is over.
    cut.packets >= standingPackets / 4 &&
    cut.fromMs > 0 &&
    cut.toMs !== undefined &&
    outagesByFault({ ...loss, outages: others }).length === 0
  )
}

describe('what is broken is broken, and is whole again afterwards', () => {
  it.each<Fault>([
    { kind: 'partition', node: 'node-1', from: { network: 'tunnel' } },
    { kind: 'partition', node: 'node-1', from: { node: 'node-2' } },
  ])('loses packets between nodes while $kind stands, and none before and after', async (fault) => {
    expectLoss(await lossDuring(acrossNodes(), (flow) => stand(fault, flow)), isCutOnce)
  })

  it.each<Fault>([
    { kind: 'pause', target: { component: 'ovn-controller', machine: 'node-1' } },
    { kind: 'pause', target: { component: 'controller', machine: 'node-1' } },
    { kind: 'partition', node: 'node-2', from: { service: 'southbound' } },
    { kind: 'stop', target: { component: 'etcd', machine: 'control' } },
    { kind: 'api-server', faults: [{ answer: 'reset' }] },
  ])('forwards on while $kind stands', async (fault) => {
    // Where the controller runs is the scheduler's choice.
    const meant =
      fault.kind === 'pause' && fault.target.component === 'controller'
        ? { ...fault, target: { ...fault.target, machine: await nodeOfController() } }
        : fault
    const losses = await lossDuring(acrossNodes(), (flow) => stand(meant, flow))
    expectLoss(losses, (loss) => loss.sent > 15 && outagesByFault(loss).length === 0)
  })
})

async function nodeOfController(): Promise<string> {
  const [pod] = await untilPodsReady(cluster.api, 'kube-system', 'app=kube-ovn-controller', 1)
  return pod?.spec.nodeName ?? ''
}

describe('what is left over', () => {
  it('is found, of whatever kind, until it is gone', async () => {
    const before = await takeSnapshot(cluster)
    {
      await using _ = await plantLeaks(cluster)
      const found = await eventually('every leak is found', async () => {
        const leaks = await findLeaks(cluster, before, 0)
        const places = leaks.filter(({ appeared }) => appeared.length > 0).map(({ where }) => where)
        return plantedPlaces.every((place) => places.includes(place)) ? leaks : undefined
      })
      expect(renderDifferences(found)).toContain('+ lab-left')
      expect(await lab.findLeaks(0)).toContain('+ lab-left')
    }
    expect(renderDifferences(await findLeaks(cluster, before))).toBe('')
  })
})

describe('what can not be broken', () => {
  it.each<readonly [Fault, string]>([
    [{ kind: 'partition', node: 'node-9', from: { network: 'all' } }, 'node-9'],
    [{ kind: 'partition', node: 'node-1', from: { node: 'outside' } }, 'outside'],
    [{ kind: 'pause', target: { machine: 'router-1' } }, 'router-1'],
    [{ kind: 'stop', target: { component: 'etcd', machine: 'node-1' } }, 'etcd@node-1'],
    [{ kind: 'full-disk', target: { component: 'northbound', machine: 'node-2' } }, 'northbound@node-2'],
    [
      { kind: 'slow-disk', target: { component: 'southbound', machine: 'node-2' }, delayMs: 5 },
      'southbound@node-2',
    ],
  ])('is named, left whole and not on record: %j', async (fault, argument) => {
    await expect(applyFault(cluster, fault)).rejects.toMatchObject({
      details: { argument, cure: expect.stringMatching(/node-1|control/) as string },
    })
    expect(standingFaults(cluster)).toEqual([])
  })

  it('is broken once, and one API server misbehaves in one way at a time', async () => {
    await using _ = await injectFault(cluster, { kind: 'api-server', faults: [{ delayMs: 1 }] })
    await expect(applyFault(cluster, { kind: 'api-server', faults: [{ answer: 500 }] })).rejects.toThrow(
      'the fault stands already',
    )
    expect(standingFaults(cluster)).toHaveLength(1)
  })
})

describe('an API server that misbehaves', () => {
  it('keeps nodes from making a pod, until it behaves', async () => {
    const pod = podOn('node-2', 'misbehaved')
    {
      await using _ = await injectFault(cluster, {
        kind: 'api-server',
        faults: [
          { kind: 'read', answer: 500 },
          { kind: 'write', answer: 429 },
          { kind: 'watch', resetAfterMs: 0 },
        ],
      })
      await cluster.api.apply(pod)
      await delay(3_000)
      const [seen] = await cluster.api.list<PodObject>(
        `/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dmisbehaved`,
      )
      expect(seen?.status?.phase).toBe('Pending')
    }
    await untilPodsReady(cluster.api, 'shop', 'app=misbehaved', 1)
    await takeDownPod(cluster.api, pod)
  })

  it('forgets its history, and pods are made all the same', async () => {
    await strike(cluster, { kind: 'compact' })
    await strike(cluster, { kind: 'kill', target: { component: 'apiserver', machine: 'control' } })
    const pod = podOn('node-2', 'compacted')
    await cluster.api.apply(pod)
    expect(await untilPodsReady(cluster.api, 'shop', 'app=compacted', 1)).toHaveLength(1)
    await takeDownPod(cluster.api, pod)
  })
})

function podOn(nodeName: string, name: string): ApiObject {
  return idlePod({ name, namespace: 'shop' }, nodeName)
}

describe('a component that is off', () => {
  it('by its clock: it says other times than the rest, and is right again', async () => {
    const machine = await nodeOfController()
    {
      await using _ = await injectFault(cluster, {
        kind: 'clock',
        target: { component: 'controller', machine },
        offsetSeconds: -3600,
      })
      await eventually('the leader renews its lease an hour ago', async () =>
        Math.abs((await leaseAgeSeconds()) - 3600) < 60 ? true : undefined,
      )
      // Nobody else's clock is concerned.
      const askedAt = Date.now() / 1000
      const saidAt = Number(await runAt(nodeNamed(cluster, machine).place, ['date', '+%s']))
      expect(saidAt).toBeGreaterThanOrEqual(Math.floor(askedAt))
      expect(saidAt).toBeLessThanOrEqual(Date.now() / 1000)
    }
    await eventually('the leader renews its lease now', async () =>
      (await leaseAgeSeconds()) < 60 ? true : undefined,
    )
  })

  it('by its disk: the Northbound takes so much longer to commit, and pods are made all the same', async () => {
    const target = { component: 'northbound', machine: 'node-1' } as const
    const delayMs = noticeable(await commitMs())
    {
      await using _ = await injectFault(cluster, { kind: 'slow-disk', target, delayMs })
      expect(await commitMs()).toBeGreaterThanOrEqual(delayMs)
      const pod = podOn('node-2', 'slow')
      await cluster.api.apply(pod)
      expect(await untilPodsReady(cluster.api, 'shop', 'app=slow', 1)).toHaveLength(1)
      await takeDownPod(cluster.api, pod)
    }
    await eventually('commits are quick again', async () => ((await commitMs()) < delayMs ? true : undefined))
  })

  it('by its disk: the API server takes so much longer to write, and writes all the same', async () => {
    const target = { component: 'etcd', machine: 'control' } as const
    const delayMs = noticeable(await writeMs('before'))
    {
      await using _ = await injectFault(cluster, { kind: 'slow-disk', target, delayMs })
      expect(await writeMs('slow')).toBeGreaterThanOrEqual(delayMs)
    }
    await eventually('writes are quick again', async () =>
      (await writeMs('quick')) < delayMs ? true : undefined,
    )
  })
})

/** A delay that what takes so long without it can not be taken to have. */
function noticeable(ms: number): number {
  return 500 + Math.ceil(ms)
}

interface Lease extends ApiObject {
  readonly spec: { readonly renewTime: string }
}

/** How long ago the controller that leads renewed its lease, as it says. */
async function leaseAgeSeconds(): Promise<number> {
  const lease = await cluster.api.call<Lease>(
    'GET',
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-ovn-controller',
  )
  return (Date.now() - Date.parse(lease.spec.renewTime)) / 1000
}

/** How long the API server takes to store something new. */
async function writeMs(text: string): Promise<number> {
  const since = performance.now()
  const metadata = { name: 'lab-write', namespace: 'default', annotations: { text, at: String(since) } }
  await cluster.api.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
  return performance.now() - since
}

async function commitMs(): Promise<number> {
  const central = await ovnCentral(cluster)
  const since = performance.now()
  await nbctl(central, 'set', 'NB_Global', '.', `external_ids:lab-commit=${Math.round(since)}`)
  return performance.now() - since
}

describe('what is restarted comes back', () => {
  it.each([
    { component: 'kubelet', machine: 'node-1' },
    { component: 'containerd', machine: 'node-2' },
    { component: 'agent', machine: 'node-2' },
  ] as const)('$component@$machine, without a packet lost', async (target) => {
    const losses = await lossDuring(acrossNodes(), () => strike(cluster, { kind: 'restart', target }))
    expectLoss(losses, (loss) => loss.sent > 15 && outagesByFault(loss).length === 0)
  })

  it.each<ComponentTarget>([
    { component: 'vswitchd', machine: 'node-1' },
    { component: 'ovsdb-server', machine: 'node-1' },
    { component: 'ovn-controller', machine: 'node-1' },
    { component: 'northd', machine: 'node-1' },
    { component: 'controller', machine: 'node-1' },
    { component: 'etcd', machine: 'control' },
  ])('$component, and packets get through', async (target) => {
    const machine = target.component === 'controller' ? await nodeOfController() : target.machine
    await strike(cluster, { kind: 'restart', target: { ...target, machine } })
    const answers = acrossNodes().map(({ name, from, address }) =>
      eventually(`${name} answers`, async () =>
        (await pingAll(from, [address])).size === 1 ? address : undefined,
      ),
    )
    expect(await Promise.all(answers)).toHaveLength(2)
  })

  it.each<ComponentTarget & { readonly directory: string }>([
    { component: 'northbound', machine: 'node-1', directory: '/etc/origin/ovn' },
    { component: 'etcd', machine: 'control', directory: '/var/lib/etcd' },
  ])('$component whose disk was full', async ({ directory, ...target }) => {
    {
      await using _ = await injectFault(cluster, { kind: 'full-disk', target })
      const place =
        target.machine === 'control'
          ? insideContainer(cluster.control)
          : nodeNamed(cluster, target.machine).place
      await expect(
        runAt(place, ['dd', 'if=/dev/zero', `of=${directory}/more`, 'bs=64k', 'count=1']),
      ).rejects.toThrow('a program failed')
      await runAt(place, ['rm', '-f', `${directory}/more`])
    }
    const name = `stored-${target.component}`
    const pod = podOn('node-2', name)
    await cluster.api.apply(pod)
    await untilPodsReady(cluster.api, 'shop', `app=${name}`, 1)
    await takeDownPod(cluster.api, pod)
  })
})

/** Until something has come to all nodes. */
const patience = { timeout: 120_000, interval: 200 }

describe('nodes come and go', () => {
  it('a node is added, gets pods that reach the others, and is removed', async () => {
    const node = await addNode(cluster, { zone: 'b' })
    expect(node.name).toBe('node-3')
    await cluster.api.apply(podOn('node-3', 'newcomer'))
    const [pod] = await untilPodsReady(cluster.api, 'shop', 'app=newcomer', 1)
    if (pod === undefined) return expect.unreachable()
    const others = pods.flatMap(addressesOfPod)
    // It is Ready by flows of its own node; those of the others follow.
    await expect
      .poll(async () => [...(await pingAll(placeOf(cluster, pod), others))].toSorted(), patience)
      .toEqual(others.toSorted())
    const end = node.tunnel.ipv4
    const withTunnel = async () =>
      [...(await tunnelEnds(cluster))].filter(([, ends]) => ends.includes(end)).length
    await expect.poll(withTunnel, patience).toBe(2)
    await removeNode(cluster, 'node-3')
    expect(await cluster.api.list('/api/v1/nodes')).toHaveLength(2)
    await eventually('the tunnels to it are gone', async () =>
      (await withTunnel()) === 0 ? true : undefined,
    )
  })

  it('a node is rebooted, comes back with other addresses, and its pods reach the others', async () => {
    const before = nodeNamed(cluster, 'node-2')
    const after = await rebootNode(cluster, 'node-2', { hasNewAddresses: true })
    lab.hasMoved(before, after)
    expect(after.kubernetes).not.toEqual(before.kubernetes)
    pods = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
    for (const { from, address } of acrossNodes())
      await eventually(`${address} answers`, async () =>
        (await pingAll(from, [address])).size === 1 ? true : undefined,
      )
  })
})
