import {
  applyAll,
  chartNamespace,
  deleteAll,
  lossDuring,
  pathsBetween,
  readExample,
  renderLoss,
  runAt,
  untilPodsReady,
  untilRolledOut,
  vswitchPlaces,
} from '@kube-ovn/lab'
import type { Cluster, PodObject, WatchedPath } from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

let cluster: Cluster
let pods: readonly PodObject[]

const describe = describeInLab('pings from inside of pods and looks into nodes')

const lab = useSuiteLab({ id: 'ovs-rollout' })

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
  pods = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
})

afterAll(() => deleteAll(cluster.api, readExample('01-two-subnets', 'dual')))

/** Both families: across the nodes, and on the one that has two of the pods. */
function watchedPaths(): readonly WatchedPath[] {
  const [first] = pods
  if (first === undefined) return expect.unreachable()
  const targets = [...Map.groupBy(pods.slice(1), ({ spec }) => spec.nodeName).values()]
  return targets.flatMap(([target]) => (target === undefined ? [] : pathsBetween(cluster, first, target)))
}

describe('a roll-out of Open vSwitch', () => {
  it('interrupts what the userspace data path forwards, which goes on by the flows that were there', async () => {
    const before = await countFlows()
    let rolledOutMs = 0
    const losses = await lossDuring(watchedPaths(), async () => {
      const sinceMs = performance.now()
      await rollOut()
      rolledOutMs = performance.now() - sinceMs
    })
    for (const loss of losses) {
      console.log(`${renderLoss(loss)}, while ovs-ovn rolled out in ${(rolledOutMs / 1000).toFixed(1)} s`)
      // What forwards in userspace forwards nothing while its process is exchanged, node after node; the kernel's would.
      expect(loss.outages.filter(({ toMs }) => toMs === undefined)).toEqual([])
      // The new pod is there before the old one goes, so that it is the exchange alone which is lost.
      expect(loss.lost * loss.intervalMs).toBeLessThan(rolledOutMs / 2)
    }
    for (const [node, place] of await vswitchPlaces(cluster)) {
      const config = await runAt(place, [
        'ovs-vsctl',
        '--timeout=10',
        'get',
        'Open_vSwitch',
        '.',
        'other_config',
      ])
      expect(`${node}: ${config}`).not.toContain('flow-restore-wait')
    }
    const untilAsMany = { timeout: 60_000 }
    await expect.poll(async () => fewer(await countFlows(), before), untilAsMany).toEqual([])
  })
})

type Flows = ReadonlyMap<string, number>

/** How many flows each node has. */
async function countFlows(): Promise<Flows> {
  const counts = [...(await vswitchPlaces(cluster))].map(async ([node, place]) => {
    const shown = await runAt(place, ['ovs-ofctl', '--timeout=10', 'dump-aggregate', 'br-int'])
    return [node, Number(/flow_count=(\d+)/.exec(shown)?.[1])] as const
  })
  return new Map(await Promise.all(counts))
}

/** The nodes that have less than before by more than what comes and goes with tunnels and neighbours, a fiftieth. */
function fewer(after: Flows, before: Flows): readonly string[] {
  return [...before].flatMap(([node, count]) => ((after.get(node) ?? 0) >= count * 0.98 ? [] : [node]))
}

/** As an upgrade does, with nothing changed but what the template of the pods says of itself. */
async function rollOut(): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${chartNamespace}/daemonsets/ovs-ovn`
  await cluster.api.mergePatch(path, {
    spec: { template: { metadata: { annotations: { 'example.com/generation': '2' } } } },
  })
  await untilRolledOut(cluster.api, 'daemonsets', chartNamespace, 'ovs-ovn')
}
