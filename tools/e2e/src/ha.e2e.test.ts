import { setTimeout as delay } from 'node:timers/promises'
import {
  applyAll,
  controllerLeader,
  countTransactions,
  databaseLeader,
  deleteAll,
  removeFakes,
  eventually,
  fakesCheck,
  bringUpFakes,
  idlePod,
  injectFault,
  logPosition,
  lossDuring,
  outagesByFault,
  nbctl,
  partNorthdFromLeader,
  pathsBetween,
  presets,
  productChecks,
  readExample,
  renderLoss,
  runCheck,
  standingFaults,
  strike,
  takeDownPod,
  untilPodsReady,
} from '@kube-ovn/lab'
import type { ApiObject, Cluster, Fault, OtherSide, PodObject, WatchedPath } from '@kube-ovn/lab'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { failures, findFailures } from './check-failures.ts'
import { describeInLab } from './describe-in-lab.ts'
import { kickedMember } from './kubectl-ko/kicked-member.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('breaks what is there three times')

/** How long a master stays cut off: several times what the others take to see that, and to choose who leads. */
const cutMs = 10_000

/**
 * Until others have taken over from who led and is dead or cut off, and a pod is Ready; a Lease has to expire first. Several times what that
 * takes: the machine may have other things to do.
 */
const takeOverMs = 240_000

/** The same, as an operator may count on it. */
const soonMs = 60_000

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

/** Checks of the lab that several masters may matter to; the others are held by one, and by deep runs. */
const ofMasters = [
  'pod to pod',
  'API server to pods',
  'addresses',
  'monitor',
  'restarts',
  'drift',
  'helm upgrade',
]

let cluster: Cluster
let pods: readonly PodObject[]
let made = 0

const lab = useSuiteLab({ id: 'ha', ...presets['ha'] })

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual').map(stayingOnLostNodes))
  pods = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
})

afterAll(() => deleteAll(cluster.api, readExample('01-two-subnets', 'dual')))

/** What is watched is not evicted while its node is away. */
function stayingOnLostNodes(object: ApiObject): ApiObject {
  const { spec } = object as { readonly spec?: { readonly template?: { readonly spec: object } } }
  if (spec?.template === undefined) return object
  const tolerations = [{ operator: 'Exists', effect: 'NoExecute' }]
  const template = { ...spec.template, spec: { ...spec.template.spec, tolerations } }
  return { ...object, spec: { ...spec, template } } as ApiObject
}

afterEach(() => {
  const standing = standingFaults(cluster)
  if (standing.length > 0) throw new Error(`still broken: ${JSON.stringify(standing)}`)
})

/** From each pod to each other, both families. */
function everyPath(): readonly WatchedPath[] {
  return pods.flatMap((from) =>
    pods.filter((to) => to !== from).flatMap((to) => pathsBetween(cluster, from, to)),
  )
}

/**
 * Expects that no packet between pods is lost from before to after.
 *
 * `work` makes no pod: a link that comes or goes costs the userspace data path a packet or two (docs/lab.md).
 */
async function expectNoLoss(work: () => Promise<void>): Promise<void> {
  const paths = everyPath()
  expect(new Set(pods.map(({ spec }) => spec.nodeName)).size).toBeGreaterThan(1)
  const losses = await lossDuring(paths, work)
  expect(losses).toHaveLength(paths.length)
  expect(losses.filter((loss) => loss.sent < 15 || outagesByFault(loss).length > 0).map(renderLoss)).toEqual(
    [],
  )
}

/** Makes a pod on a node, and takes it away again; returns how long it took to be Ready. */
async function makePod(nodeName: string, timeoutMs = takeOverMs): Promise<number> {
  const name = `made-${++made}`
  const pod = idlePod({ name, namespace: 'shop' }, nodeName)
  const madeAt = performance.now()
  await cluster.api.apply(pod)
  await untilPodsReady(cluster.api, 'shop', `app=${name}`, 1, timeoutMs)
  const readyMs = performance.now() - madeAt
  await takeDownPod(cluster.api, pod)
  return readyMs
}

/** Waits until one pod has the label of the leader of a database, by which tools find it: that of the leader. */
async function untilLabelled(database: 'northbound' | 'southbound'): Promise<void> {
  const label = database === 'northbound' ? 'ovn-nb-leader' : 'ovn-sb-leader'
  const path = `/api/v1/namespaces/kube-system/pods?labelSelector=${label}%3Dtrue`
  const labelled = async (): Promise<true | undefined> => {
    const [pod, ...others] = await cluster.api.list<PodObject>(path)
    const { node } = await databaseLeader(cluster, database)
    return others.length === 0 && pod?.spec.nodeName === node ? true : undefined
  }
  await eventually(`the label ${label} is the leader's`, labelled, { timeoutMs: takeOverMs })
}

/** The node of the controller that leads. */
async function nodeOfLeader(): Promise<string> {
  const { spec } = await controllerLeader(cluster)
  return spec.nodeName ?? expect.unreachable('a pod that runs has a node')
}

function nodeOtherThan(node: string): string {
  return cluster.nodes.find(({ name }) => name !== node)?.name ?? expect.unreachable('there are three')
}

describe('three masters', () => {
  it.each(['northbound', 'southbound'] as const)(
    'forward on while the leader of the %s is killed, and pods are made',
    async (database) => {
      const { node } = await databaseLeader(cluster, database)
      await expectNoLoss(async () => {
        await strike(cluster, { kind: 'kill', target: { component: database, machine: node } })
        await databaseLeader(cluster, database)
      })
      await makePod(node)
      await untilLabelled(database)
    },
    1_200_000,
  )

  it('forward on while the controller that leads is killed, and another makes pods', async () => {
    const node = await nodeOfLeader()
    await expectNoLoss(() =>
      strike(cluster, { kind: 'kill', target: { component: 'controller', machine: node } }),
    )
    await makePod(node)
  }, 1_200_000)

  it.each<readonly [string, OtherSide]>([
    ['from other members', { service: 'raft' }],
    ['from everybody but pods', { network: 'kubernetes' }],
  ])(
    'forward on while the master that leads is cut off %s: others lead and make pods, and it comes back',
    async (_, from) => {
      const { node } = await databaseLeader(cluster, 'northbound')
      await using cut = new AsyncDisposableStack()
      await expectNoLoss(async () => {
        cut.use(await injectFault(cluster, { kind: 'partition', node, from }))
        await eventually(
          'another member leads',
          async () => ((await databaseLeader(cluster, 'northbound')).node === node ? undefined : true),
          { timeoutMs: takeOverMs },
        )
        await delay(cutMs)
      })
      await makePod(nodeOtherThan(node))
      await expectNoLoss(async () => {
        await cut.disposeAsync()
        await delay(cutMs)
      })
      await makePod(node)
    },
    1_800_000,
  )

  // Before nodes are lost, whose ways to one another take a while to come back.
  kickedMember(() => cluster, { expectNoLoss, backMs: takeOverMs })

  it.each<readonly [string, (node: string) => Fault]>([
    ['has lost its power', (node) => ({ kind: 'stop', target: { machine: node } })],
    ['is cut off', (node) => ({ kind: 'partition', node, from: { network: 'kubernetes' } })],
  ])(
    'make pods soon after the node of the active ovn-northd, away from who leads the Southbound, %s',
    async (_, faultOf) => {
      const node = await partNorthdFromLeader(cluster)
      await using _fault = await injectFault(cluster, faultOf(node))
      const readyMs = await makePod(nodeOtherThan(node), soonMs)
      console.log(`a pod is Ready ${Math.round(readyMs / 1000)} s after ${node} was lost`)
      expect(readyMs).toBeLessThan(soonMs)
    },
    1_200_000,
  )

  it('count transactions as one, whoever leads', async () => {
    const first = await databaseLeader(cluster, 'northbound')
    const since = await logPosition(first.place)
    await nbctl(first.place, 'ls-add', 'lab-ha')
    const uuid = await nbctl(first.place, 'get', 'Logical_Switch', 'lab-ha', '_uuid')
    await strike(cluster, { kind: 'kill', target: { component: 'northbound', machine: first.node } })
    const second = await databaseLeader(cluster, 'northbound')
    await nbctl(second.place, 'set', 'Logical_Switch', 'lab-ha', 'external_ids:lab=ha')
    await nbctl(second.place, 'ls-del', 'lab-ha')
    // Services follow the members that are ready, meanwhile, and switches the pods of the node that was away.
    const row = { table: 'Logical_Switch', uuid }
    expect(await countTransactions(second.place, since, 'northbound', row)).toBe(3)
  })

  it('hold the checks of the lab that several masters may matter to', async () => {
    const checks = productChecks.filter(({ name }) => isDeep || ofMasters.includes(name))
    expect(checks.length).toBeGreaterThanOrEqual(ofMasters.length)
    expect(await findFailures(cluster, checks)).toEqual([])
  })

  it('take fake nodes and pods', async () => {
    const fakes = { nodes: 10, pods: 200 }
    await bringUpFakes(cluster, fakes)
    expect(failures([await runCheck(cluster, fakesCheck(fakes))])).toEqual([])
    await removeFakes(cluster)
  })
})
