import { setInterval } from 'node:timers/promises'
import {
  askHere,
  eventually,
  injectFault,
  nbctl,
  ovnCentral,
  runAt,
  untilPodsReady,
  waitForObjects,
  type ApiObject,
  type Cluster,
  type Outcome,
  type PodObject,
  type Question,
} from '@kube-ovn/lab'
import { talksWith } from './long-talks.ts'
import { questionsTo, servers, service, withServers } from './service-traffic.ts'

/** How many backends there are, on all nodes. */
const backends = 20

/** What clients saw of the end of a node with backends. */
export interface NodeLoss {
  /** Requests that began once the other nodes had followed, and those of them that were not answered, as text. */
  readonly later: number
  readonly failed: readonly string[]
  /** Of long connections with backends on other nodes: lines without an answer, and connections that were parted. */
  readonly unanswered: number
  readonly parted: number
  /** Long flows of UDP whose backend went, and that no other backend has answered. */
  readonly stuck: number
  /** From when the node was not ready until all others led elsewhere. */
  readonly followedMs: number
}

interface NodeObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

interface Slice extends ApiObject {
  readonly endpoints: readonly {
    readonly nodeName?: string
    readonly conditions: { readonly ready?: boolean }
  }[]
}

interface Asked {
  readonly question: Question
  readonly outcome: Outcome
  readonly beganMs: number
}

/**
 * Cuts the power of a node while clients on others go on to ask a Service with backends on all of them, and talk to some of these.
 *
 * Kubernetes knows of it after a time, in which requests for backends there fail, whoever balances. It keeps those that begin after that.
 */
export async function lossOfNode(cluster: Cluster, namespace: string, victim: string): Promise<NodeLoss> {
  await using served = await withServers(cluster, service('busy', namespace, {}), [
    servers('busy', namespace, backends),
  ])
  const pods = await untilPodsReady(cluster.api, namespace, 'of=busy', backends)
  const [gone, left] = [
    pods.filter(({ spec }) => spec.nodeName === victim),
    pods.filter(({ spec }) => spec.nodeName !== victim),
  ]
  using talks = new DisposableStack()
  const [held, moving] = [
    await talksWith(cluster, served, { pods: left, protocol: 'tcp', count: 6 }, talks),
    await talksWith(cluster, served, { pods: gone, protocol: 'udp', count: 4 }, talks),
  ]
  await using asker = new Asker(questionsTo(cluster, served.clients, served.addresses))
  let followed: { readonly atMs: number; readonly ms: number }
  {
    await using _ = await injectFault(cluster, { kind: 'stop', target: { machine: victim } })
    followed = await untilLedElsewhere(cluster, namespace, victim, gone)
    const wanted = asker.begun + 10 * 8
    await eventually('clients have asked on', () => Promise.resolve(asker.begun >= wanted ? true : undefined))
    await eventually(
      'flows of UDP come to others',
      () => Promise.resolve(moving.every(({ at }) => at.size > 1) ? true : undefined),
      { timeoutMs: 60_000 },
    ).catch(() => undefined)
    await asker.end()
  }
  await untilPodsReady(cluster.api, namespace, 'of=busy', backends)
  const later = asker.asked.filter(({ beganMs }) => beganMs > followed.atMs)
  return {
    later: later.length,
    failed: later.flatMap(({ question: { protocol, target }, outcome }) =>
      outcome.kind === 'reached' ? [] : [`${protocol} to ${target}: ${outcome.reason}`],
    ),
    unanswered: held.reduce((sum, { unanswered }) => sum + unanswered, 0),
    parted: held.filter(({ isOver }) => isOver).length,
    stuck: moving.filter(({ at }) => at.size === 1).length,
    followedMs: followed.ms,
  }
}

/** Asks all questions anew once a second, whether or not those before have been answered. */
class Asker implements AsyncDisposable {
  readonly asked: Asked[] = []
  readonly #ended = new AbortController()
  readonly #rounds: Promise<void>[] = []
  readonly #questions: readonly Question[]
  readonly #asking: Promise<void>

  constructor(questions: readonly Question[]) {
    this.#questions = questions
    this.#asking = this.#ask()
  }

  /** How many questions have been put. */
  get begun(): number {
    return this.#rounds.length * this.#questions.length
  }

  async #ask(): Promise<void> {
    try {
      for await (const _ of setInterval(1000, undefined, { signal: this.#ended.signal }))
        this.#rounds.push(this.#askOnce())
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error
    }
  }

  async #askOnce(): Promise<void> {
    const beganMs = performance.now()
    const outcomes = await askHere(this.#questions)
    for (const [index, outcome] of outcomes.entries()) {
      const question = this.#questions[index]
      if (question !== undefined) this.asked.push({ question, outcome, beganMs })
    }
  }

  /** Waits for the answers to all questions. */
  async end(): Promise<void> {
    this.#ended.abort()
    await this.#asking
    await Promise.all(this.#rounds)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end()
  }
}

/** Waits until Kubernetes has taken a node's backends out of the Service, and every other node has followed what follows from that. */
async function untilLedElsewhere(
  cluster: Cluster,
  namespace: string,
  victim: string,
  gone: readonly PodObject[],
): Promise<{ readonly atMs: number; readonly ms: number }> {
  const { api } = cluster
  await waitForObjects<NodeObject, true>(
    api,
    `/api/v1/nodes?fieldSelector=metadata.name%3D${victim}`,
    `${victim} is not ready`,
    ([node]) => (node?.status?.conditions?.some(isNotReady) === true ? true : undefined),
  )
  const sinceMs = performance.now()
  const slices = 'endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dbusy'
  await waitForObjects<Slice, true>(
    api,
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/${slices}`,
    `nobody on ${victim} is ready`,
    (all) =>
      all.some(({ endpoints }) => endpoints.some((one) => isReadyOn(victim, one))) ? undefined : true,
  )
  const central = await ovnCentral(cluster)
  const addresses = gone
    .flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? [])
    .map((ip) => (ip.includes(':') ? `[${ip}]:` : `${ip}:`))
  await eventually('the Northbound leads nobody there', async () => {
    const vips = await nbctl(central, '--bare', '--columns=vips', 'list', 'Load_Balancer')
    const ends = vips.split(/[\s,="]+/)
    return ends.some((end) => addresses.some((address) => end.startsWith(address))) ? undefined : true
  })
  await nbctl(central, '--wait=sb', 'sync')
  const wanted = Number(await nbctl(central, 'get', 'NB_Global', '.', 'nb_cfg'))
  const list = ['ovn-sbctl', '--timeout=10', '--bare', '--no-headings', '--columns=nb_cfg']
  const others = cluster.nodes.length - 1
  await eventually('the other nodes have followed', async () => {
    const told = (await runAt(central, [...list, 'list', 'Chassis_Private'])).split(/\s+/).filter(Boolean)
    return told.filter((number) => Number(number) >= wanted).length >= others ? true : undefined
  })
  const atMs = performance.now()
  return { atMs, ms: Math.round(atMs - sinceMs) }
}

function isNotReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status !== 'True'
}

function isReadyOn(node: string, { nodeName, conditions }: Slice['endpoints'][number]): boolean {
  return nodeName === node && conditions.ready !== false
}
