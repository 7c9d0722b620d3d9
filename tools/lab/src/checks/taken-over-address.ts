import { deleteAll, withinStack } from '../kubernetes/manifests.ts'
import { waitForObjects } from '../kubernetes/wait.ts'
import { addressesOfPod, isPodReady, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { runAt, tryAt, type Place } from '../namespaces.ts'
import {
  claimRow,
  countRow,
  durationRow,
  familyOf,
  firstOf,
  placeOf,
  type Check,
  type CheckRow,
} from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'

const namespace = 'shop'

/** A pod whose successor has its addresses, and another MAC address. */
const heirs = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'heir', namespace },
  spec: {
    replicas: 1,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'heir' } },
    template: {
      metadata: {
        labels: { app: 'heir' },
        annotations: { 'ovn.kubernetes.io/ip_pool': '10.17.0.200,fd00:10:17::200' },
      },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          { name: 'heir', image: 'docker.io/library/busybox:stable', command: ['sleep', 'infinity'] },
        ],
      },
    },
  },
}

/** Who talked to a pod goes on with the one that takes over its addresses, as soon as that is Ready. */
export const takenOverAddress: Check = {
  name: 'taken-over address',
  async run(cluster) {
    const deployment = withinStack(heirs, cluster.topology.stack)
    await cluster.api.apply(deployment)
    const before = firstOf(await untilPodsReady(cluster.api, namespace, 'app=heir', 1), 'pod heir')
    const peers = await untilPodsReady(cluster.api, namespace, 'app=web', 3)
    for (const peer of peers) await remember(cluster, peer, before)
    const after = await replace(cluster, before)
    const known = await Promise.all(peers.map((peer) => rowsOf(cluster, peer, after)))
    await deleteAll(cluster.api, [deployment])
    // Whoever checks next that nothing is written must not see a pod that is still on its way out.
    await waitForObjects(
      cluster.api,
      '/apis/kubeovn.io/v1/ips',
      'the addresses of the heirs are free',
      (records) => (records.some(({ metadata }) => metadata.name.startsWith('heir-')) ? undefined : true),
    )
    return [
      claimRow(
        'the successor has the addresses',
        isSame(before, after, addressText),
        'the same',
        addressText(after),
      ),
      claimRow('and another MAC address', !isSame(before, after, macOf), 'another', macOf(after)),
      ...summarise(known.flat()),
    ]
  },
}

interface Seen {
  readonly where: string
  readonly isKnown: boolean
  readonly isReached: boolean
  /** How long its first answer took beyond what one takes where nothing is new; undefined if there was none. */
  readonly lateMs: number | undefined
}

/** How late the first answer may be. */
const allowedMs = 100

function summarise(seen: readonly Seen[]): readonly CheckRow[] {
  const kinds = [...Map.groupBy(seen, ({ where }) => where)].sort(([a], [b]) => a.localeCompare(b))
  return kinds.flatMap(([where, own]) => [
    countRow(
      `neighbours know it when it is Ready, ${where}`,
      own.filter(({ isKnown }) => isKnown).length,
      own.length,
    ),
    countRow(
      `and reach it with the first packet, ${where}`,
      own.filter(({ isReached }) => isReached).length,
      own.length,
    ),
    durationRow(`which is answered in time, ${where}`, latest(own), allowedMs),
  ])
}

function latest(seen: readonly Seen[]): number | undefined {
  const known = seen.flatMap(({ lateMs }) => (lateMs === undefined ? [] : [lateMs]))
  return known.length < seen.length ? undefined : Math.max(0, ...known)
}

/** Makes sure that a pod knows where another one is, and that it has no reason to doubt it for a while. */
async function remember(cluster: Cluster, peer: PodObject, target: PodObject): Promise<void> {
  for (const address of addressesOfPod(target)) {
    // Whatever gets through will do: the first one may be lost, as links have just come.
    await runAt(placeOf(cluster, peer), ['ping', '-c', '10', '-i', '0.2', '-w', '5', address])
    const entry = [address, 'lladdr', macOf(target), 'dev', 'eth0', 'nud', 'reachable']
    await runAt(placeOf(cluster, peer), ['ip', 'neigh', 'replace', ...entry])
  }
}

async function replace(cluster: Cluster, before: PodObject): Promise<PodObject> {
  await cluster.api.mergePatch(`/apis/apps/v1/namespaces/${namespace}/deployments/heir`, {
    spec: { template: { metadata: { annotations: { 'example.com/generation': '2' } } } },
  })
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dheir`
  return waitForObjects<PodObject, PodObject>(cluster.api, path, 'the successor is Ready', (pods) =>
    pods.find((pod) => isPodReady(pod) && pod.metadata.uid !== before.metadata.uid),
  )
}

/** What a peer knows is looked at before it sends anything, from which it could learn. */
async function rowsOf(cluster: Cluster, peer: PodObject, target: PodObject): Promise<readonly Seen[]> {
  const place = placeOf(cluster, peer)
  const where = peer.spec.nodeName === target.spec.nodeName ? 'same node' : 'across nodes'
  const seen: Seen[] = []
  for (const address of addressesOfPod(target)) {
    const shown = await runAt(place, ['ip', '-json', 'neigh', 'show', address, 'dev', 'eth0'])
    const [entry] = JSON.parse(shown) as { readonly lladdr?: string }[]
    const firstMs = await roundTripMs(place, address)
    // What the machine takes by itself, which has others to serve, is nobody's delay: as much is taken by the next packet.
    const nextMs = await roundTripMs(place, address)
    seen.push({
      where: `${familyOf(address)} ${where}`,
      isKnown: entry?.lladdr === macOf(target),
      isReached: firstMs !== undefined,
      lateMs: firstMs === undefined ? undefined : Math.max(0, firstMs - (nextMs ?? 0)),
    })
  }
  return seen
}

/** Of one packet; undefined if it got no answer. */
async function roundTripMs(place: Place, address: string): Promise<number | undefined> {
  const { stdout } = await tryAt(place, ['ping', '-c', '1', '-W', '1', address])
  const [, ms] = /time=([\d.]+) ms/.exec(stdout) ?? []
  return ms === undefined ? undefined : Number(ms)
}

function isSame(a: PodObject, b: PodObject, fact: (pod: PodObject) => string): boolean {
  return fact(a) === fact(b)
}

function addressText(pod: PodObject): string {
  return addressesOfPod(pod).join(',')
}

function macOf({ metadata }: PodObject): string {
  return (metadata.annotations?.['ovn.kubernetes.io/mac_address'] ?? '').toLowerCase()
}
