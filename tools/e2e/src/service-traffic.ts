import { setTimeout as delay } from 'node:timers/promises'
import {
  applyAll,
  askHere,
  deleteAll,
  eventually,
  importImages,
  namespaceOf,
  placeOf,
  readProbeImage,
  untilPodsReady,
  untilRolledOut,
  type ApiObject,
  type Cluster,
  type Outcome,
  type PodObject,
  type Question,
} from '@kube-ovn/lab'
import { patienceMs, servicePorts, talksWith } from './long-talks.ts'

/** Where servers of the probe listen, by TCP and UDP. */
const serverPort = 18_080
const { tcp: tcpPort, udp: udpPort } = servicePorts
const ports = [
  { name: 'tcp', port: tcpPort, targetPort: serverPort },
  { name: 'udp', port: udpPort, targetPort: serverPort, protocol: 'UDP' },
]

export type Spec = ApiObject & { readonly spec: object }

/** So many pods of the probe that answer until they are gone, and go once nobody is sent to them any more. */
export function servers(name: string, namespace: string, replicas: number): Spec {
  const labels = { app: 'server', of: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          // As evenly as they come, so that each node has some of many.
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          terminationGracePeriodSeconds: 10,
          containers: [
            {
              name: 'probe',
              image: readProbeImage(),
              imagePullPolicy: 'IfNotPresent',
              readinessProbe: { tcpSocket: { port: serverPort }, periodSeconds: 1 },
              lifecycle: { preStop: { sleep: { seconds: 5 } } },
            },
          ],
        },
      },
    },
  }
}

export function service(name: string, namespace: string, spec: object): Spec {
  const metadata = { name, namespace }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ipFamilyPolicy: 'PreferDualStack', selector: { app: 'server' }, ports, ...spec },
  }
}

async function addressesOf(cluster: Cluster, { metadata }: ApiObject): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}`
  const { spec } = await cluster.api.call<
    Spec & { readonly spec: { readonly clusterIPs: readonly string[] } }
  >('GET', path)
  return spec.clusterIPs
}

/** One for each client, address and protocol. */
export function questionsTo(
  cluster: Cluster,
  clients: readonly PodObject[],
  addresses: readonly string[],
  timeoutMs = patienceMs,
): readonly Question[] {
  return clients.flatMap((client) =>
    addresses.flatMap((target) =>
      (['tcp', 'udp'] as const).map((protocol) => ({
        netns: namespaceOf(placeOf(cluster, client)),
        target,
        port: protocol === 'tcp' ? tcpPort : udpPort,
        protocol,
        isOurs: true,
        timeoutMs,
      })),
    ),
  )
}

/** A Service with its servers, and the clients in the namespace. Disposing of it takes them away, but for the clients. */
export interface ServedClients extends AsyncDisposable {
  readonly clients: readonly PodObject[]
  readonly addresses: readonly string[]
}

export async function withServers(
  cluster: Cluster,
  of: Spec,
  deployments: readonly Spec[],
): Promise<ServedClients> {
  const { namespace = '' } = of.metadata
  await using stack = new AsyncDisposableStack()
  await importImages(cluster, [{ name: readProbeImage() }])
  stack.defer(() => deleteAll(cluster.api, [...deployments, of]))
  await applyAll(cluster.api, [...deployments, of])
  for (const { metadata } of deployments)
    await untilRolledOut(cluster.api, 'deployments', namespace, metadata.name)
  const clients = await untilPodsReady(cluster.api, namespace, 'app=client', 2)
  const addresses = await addressesOf(cluster, of)
  // Asked again and again, so that one that went to nobody yet is no reason to wait long.
  const questions = questionsTo(cluster, clients, addresses, 3_000)
  await eventually('all clients are served', async () =>
    (await askHere(questions)).every(({ kind }) => kind === 'reached') ? true : undefined,
  )
  const owned = stack.move()
  return { clients, addresses, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Which backend each client came to, by each protocol at each address: while there were few, at once when there were many, and later. */
interface Visits {
  readonly few: readonly string[]
  readonly many: readonly string[]
  readonly later: readonly string[]
  /** From the beginning of a visit to the end of the next, at most, but for those later; ms. */
  readonly longestPauseMs: number
}

/**
 * Visits a Service with a time-out of affinity, before and after it has got many more backends.
 *
 * OVN chooses backends by the client's address: as long as they are the same, so is the choice, whatever it remembers.
 */
export async function stickyVisits(cluster: Cluster, namespace: string, seconds: number): Promise<Visits> {
  const sticky = service('sticky', namespace, {
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: seconds } },
  })
  const other = service('any', namespace, {})
  const [few, many] = [2, 10]
  await using served = await withServers(cluster, sticky, [servers('sticky', namespace, few)])
  await using stack = new AsyncDisposableStack()
  stack.defer(() => deleteAll(cluster.api, [other]))
  await applyAll(cluster.api, [other])
  const questions = questionsTo(cluster, served.clients, served.addresses)
  const others = questionsTo(cluster, served.clients, await addressesOf(cluster, other))
  let longestPauseMs = 0
  let lastMs: number | undefined
  const visit = async (): Promise<readonly string[]> => {
    const beganMs = performance.now()
    const backends = (await askHere(questions)).map(backendOf)
    longestPauseMs = Math.max(longestPauseMs, performance.now() - (lastMs ?? beganMs))
    lastMs = beganMs
    return backends
  }
  const before = await visit()
  await cluster.api.mergePatch(`/apis/apps/v1/namespaces/${namespace}/deployments/sticky`, {
    spec: { replicas: many },
  })
  const seen = new Set<string>()
  await eventually(
    'clients come to many backends, and go on to visit theirs',
    async () => {
      for (const outcome of await askHere(others)) seen.add(backendOf(outcome))
      await visit()
      // Of each family, so that half of them all are others than before.
      const further = [...seen].filter((at) => !before.includes(at))
      return further.length >= (served.addresses.length * many) / 2 ? true : undefined
    },
    { timeoutMs: 90_000 },
  )
  const during = await visit()
  const pauseMs = longestPauseMs
  let later = await visit()
  for (let round = 0; round < 5 && isEqual(later, before); round++) {
    await delay((seconds + 1) * 1000)
    later = await visit()
  }
  return { few: before, many: during, later, longestPauseMs: pauseMs }
}

function isEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.every((at, index) => at === others[index])
}

function backendOf(outcome: Outcome): string {
  const at = outcome.kind === 'reached' ? outcome.seen?.at : undefined
  return at ?? `nobody: ${JSON.stringify(outcome)}`
}

/** What clients saw while something happened. */
interface Served {
  readonly asked: number
  /** Requests that were not answered, as text. */
  readonly failed: readonly string[]
  /** Of the connections with backends that stay: lines that were not answered. */
  readonly unanswered: number
}

/** Backends that are replaced, and those beside them that stay, with whom long connections are. */
const [rolling, steady] = [20, 5]

/** So many connections at a time: those that begin in the milliseconds of a change are to be among them. */
const atOnce = 10

/** Has clients of both nodes ask a Service, and talk to those of its backends that stay, while something happens. */
export async function servedDuring(
  cluster: Cluster,
  namespace: string,
  happen: (happening: { rollOut(): Promise<void> }) => Promise<void>,
): Promise<Served> {
  const busy = service('busy', namespace, {})
  await using served = await withServers(cluster, busy, [
    servers('steady', namespace, steady),
    servers('rolling', namespace, rolling),
  ])
  const stay = await untilPodsReady(cluster.api, namespace, 'of=steady', steady)
  using talks = new DisposableStack()
  const held = await talksWith(cluster, served, { pods: stay, protocol: 'tcp', count: 6 }, talks)
  const each = questionsTo(cluster, served.clients, served.addresses)
  const byTcp = each.filter(({ protocol }) => protocol === 'tcp')
  const questions = [...each, ...Array.from({ length: atOnce - 1 }, () => byTcp).flat()]
  const outcomes: (readonly [Question, Outcome])[] = []
  const ended = new AbortController()
  const asking = (async () => {
    while (!ended.signal.aborted) {
      const answers = await askHere(questions)
      outcomes.push(...answers.map((answer, index) => [questions[index] as Question, answer] as const))
    }
  })()
  try {
    await happen({ rollOut: () => rollOut(cluster, namespace, rolling) })
  } finally {
    ended.abort()
    await asking
  }
  const failed = outcomes.flatMap(([{ protocol, target }, outcome]) =>
    outcome.kind === 'reached' ? [] : [`${protocol} to ${target}: ${outcome.reason}`],
  )
  const unanswered = held.reduce((sum, talk) => sum + talk.unanswered, 0)
  if (held.some(({ isOver }) => isOver)) failed.push('a connection with a backend that stays was parted')
  return { asked: outcomes.length, failed, unanswered }
}

/** Gives a Service two backends and replaces both. */
export async function rollOnce(cluster: Cluster, namespace: string): Promise<void> {
  const few = service('few', namespace, { selector: { of: 'rolling' } })
  await using _ = await withServers(cluster, few, [servers('rolling', namespace, 2)])
  await rollOut(cluster, namespace, 2)
}

/** Replaces so many backends that do not stay, one after the other. */
async function rollOut(cluster: Cluster, namespace: string, count: number): Promise<void> {
  const annotations = { 'example.com/version': '2' }
  await cluster.api.mergePatch(`/apis/apps/v1/namespaces/${namespace}/deployments/rolling`, {
    spec: { template: { metadata: { annotations } } },
  })
  await untilRolledOut(cluster.api, 'deployments', namespace, 'rolling')
  // The former ones are gone.
  await untilPodsReady(cluster.api, namespace, 'of=rolling', count)
}
