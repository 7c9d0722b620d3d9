import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import {
  applyAll,
  askHere,
  deleteAll,
  eventually,
  importImages,
  isPodReady,
  namespaceOf,
  placeOf,
  readProbeImage,
  startAt,
  untilPodsReady,
  untilRolledOut,
  type ApiObject,
  type Cluster,
  type Outcome,
  type PodObject,
  type Question,
} from '@kube-ovn/lab'

/** Where servers of the probe listen, by TCP and UDP. */
const serverPort = 18_080
const [tcpPort, udpPort] = [80, 53]
const ports = [
  { name: 'tcp', port: tcpPort, targetPort: serverPort },
  { name: 'udp', port: udpPort, targetPort: serverPort, protocol: 'UDP' },
]

type Spec = ApiObject & { readonly spec: object }

/** So many pods of the probe that answer until they are gone, and go once nobody is sent to them any more. */
function servers(name: string, namespace: string, replicas: number): Spec {
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

function service(name: string, namespace: string, spec: object): Spec {
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

/** Open vSwitch in userspace may not get a processor for seconds. Who is led to nobody is not answered however long it takes. */
const patienceMs = 20_000

/** One for each client, address and protocol. */
function questionsTo(
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

/** Servers behind a Service, and the clients in the namespace. Disposing of it takes them away. */
async function withServers(
  cluster: Cluster,
  of: Spec,
  deployments: readonly Spec[],
): Promise<
  AsyncDisposable & { readonly clients: readonly PodObject[]; readonly addresses: readonly string[] }
> {
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
      // Of both families.
      return [...seen].filter((at) => !before.includes(at)).length >= many ? true : undefined
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

/** Has clients of both nodes ask a Service of 20 backends, of which five stay, and talk to these, while something happens. */
export async function servedDuring(
  cluster: Cluster,
  namespace: string,
  happen: (happening: { rollOut(): Promise<void> }) => Promise<void>,
): Promise<Served> {
  const busy = service('busy', namespace, {})
  await using served = await withServers(cluster, busy, [
    servers('steady', namespace, 5),
    servers('rolling', namespace, 15),
  ])
  const stay = await untilPodsReady(cluster.api, namespace, 'of=steady', 5)
  using talks = new DisposableStack()
  const held = await talkToThose(cluster, served, stay, talks)
  const questions = questionsTo(cluster, served.clients, served.addresses)
  const outcomes: (readonly [Question, Outcome])[] = []
  const ended = new AbortController()
  const asking = (async () => {
    while (!ended.signal.aborted) {
      const answers = await askHere(questions)
      outcomes.push(...answers.map((answer, index) => [questions[index] as Question, answer] as const))
    }
  })()
  try {
    await happen({ rollOut: () => rollOut(cluster, namespace) })
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

/** Replaces the backends that do not stay, one after the other. */
async function rollOut(cluster: Cluster, namespace: string): Promise<void> {
  const annotations = { 'example.com/version': '2' }
  await cluster.api.mergePatch(`/apis/apps/v1/namespaces/${namespace}/deployments/rolling`, {
    spec: { template: { metadata: { annotations } } },
  })
  await untilRolledOut(cluster.api, 'deployments', namespace, 'rolling')
  await eventually('the former ones are gone', () => untilOnly(cluster, namespace, 20), {
    timeoutMs: 60_000,
  })
}

async function untilOnly(cluster: Cluster, namespace: string, count: number): Promise<true | undefined> {
  const pods = await cluster.api.list<PodObject>(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dserver`,
  )
  return pods.length === count && pods.every(isPodReady) ? true : undefined
}

/** A connection on which a line is sent twice a second, and what came of it. */
interface Talk {
  at: string | undefined
  unanswered: number
  isOver: boolean
}

/** A fifth part of all connections comes to backends that stay: of so many, at least one does. */
const attempts = 40

/** Opens connections and keeps those with backends that stay, a few at most. */
async function talkToThose(
  cluster: Cluster,
  { clients, addresses }: { readonly clients: readonly PodObject[]; readonly addresses: readonly string[] },
  stay: readonly PodObject[],
  stack: DisposableStack,
): Promise<readonly Talk[]> {
  const wanted = new Set(stay.flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? []))
  const held: Talk[] = []
  for (let number = 0; number < attempts && held.length < 6; number++) {
    const client = clients[number % clients.length]
    const address = addresses[(number >> 1) % addresses.length]
    if (client === undefined || address === undefined) throw new Error('there are clients and addresses')
    using attempt = new DisposableStack()
    const talk = await startTalk(cluster, client, address, attempt)
    if (talk.at === undefined || !wanted.has(talk.at)) continue
    held.push(talk)
    stack.use(attempt.move())
  }
  if (held.length === 0) throw new Error(`none of ${attempts} connections came to a backend that stays`)
  return held
}

const talkScript = `exec 3<>"/dev/tcp/$0/$1" || exit 1
for number in $(seq 1 100000); do
  echo "kube-ovn-probe $number" >&3
  if read -r -t ${patienceMs / 1000} answer <&3; then echo "$answer"; else echo unanswered; fi
  sleep 0.5
done`

async function startTalk(
  cluster: Cluster,
  client: PodObject,
  address: string,
  stack: DisposableStack,
): Promise<Talk> {
  const child = startAt(placeOf(cluster, client), ['bash', '-c', talkScript, address, String(tcpPort)])
  stack.defer(() => void child.kill('SIGTERM'))
  const talk: Talk = { at: undefined, unanswered: 0, isOver: false }
  const first = Promise.withResolvers<void>()
  if (child.stdout === null) throw new Error('its output is read')
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => {
    if (line === 'unanswered') talk.unanswered++
    else talk.at ??= /"at":"([^"]+)"/.exec(line)?.[1]
    first.resolve()
  })
  lines.on('close', () => {
    talk.isOver = true
    first.resolve()
  })
  await first.promise
  return talk
}
