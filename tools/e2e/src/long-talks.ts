import { createInterface } from 'node:readline'
import { placeOf, startAt, type Cluster, type PodObject } from '@kube-ovn/lab'

/** Open vSwitch in userspace may not get a processor for seconds. Who is led to nobody is not answered however long it takes. */
export const patienceMs = 20_000

/** A flow on which a line is sent twice a second, and what came of it. */
export interface Talk {
  /** The backends that have answered, in their order. */
  readonly at: ReadonlySet<string>
  readonly answered: number
  readonly unanswered: number
  readonly isOver: boolean
}

type Protocol = 'tcp' | 'udp'

const loop = `for number in $(seq 1 100000); do
  echo "kube-ovn-probe $number" >&3
  ANSWER
  sleep 0.5
done`

const scripts: Readonly<Record<Protocol, string>> = {
  tcp: `exec 3<>"/dev/tcp/$0/$1" || exit 1
${loop.replace('ANSWER', `if read -r -t ${patienceMs / 1000} answer <&3; then echo "$answer"; else echo unanswered; fi`)}`,
  // A datagram is read at once, or what is left of it is gone. One may be lost: the next one is sent soon.
  udp: `exec 3<>"/dev/udp/$0/$1" || exit 1
${loop.replace('ANSWER', 'timeout 3 dd bs=65536 count=1 status=none <&3 || echo unanswered')}`,
}

/** Of the Service, by protocol. */
export const servicePorts = { tcp: 80, udp: 53 } as const satisfies Record<Protocol, number>

/** Whom flows are to be with, and how many of them at most. */
interface Wanted {
  readonly pods: readonly PodObject[]
  readonly protocol: Protocol
  readonly count: number
}

/** Of so many flows, some come to a fifth part of the backends. */
const attempts = 40

/** Opens flows to a Service, by clients in turn, and keeps those that come to some backends of it. */
export async function talksWith(
  cluster: Cluster,
  { clients, addresses }: { readonly clients: readonly PodObject[]; readonly addresses: readonly string[] },
  { pods, protocol, count }: Wanted,
  stack: DisposableStack,
): Promise<readonly Talk[]> {
  const wanted = new Set(pods.flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? []))
  const held: Talk[] = []
  for (let number = 0; number < attempts && held.length < count; number++) {
    const client = clients[number % clients.length]
    const address = addresses[(number >> 1) % addresses.length]
    if (client === undefined || address === undefined) throw new Error('there are clients and addresses')
    using attempt = new DisposableStack()
    const talk = await startTalk(cluster, client, { address, protocol }, attempt)
    const [at] = talk.at
    if (at === undefined || !wanted.has(at)) continue
    held.push(talk)
    stack.use(attempt.move())
  }
  if (held.length === 0) throw new Error(`none of ${attempts} flows came to a backend that is wanted`)
  return held
}

/** Begins a flow, which goes on until it is parted or `stack` ends, and waits until something has come of its first line. */
async function startTalk(
  cluster: Cluster,
  client: PodObject,
  { address, protocol }: { readonly address: string; readonly protocol: Protocol },
  stack: DisposableStack,
): Promise<Talk> {
  const child = startAt(placeOf(cluster, client), [
    ...['bash', '-c', scripts[protocol], address, String(servicePorts[protocol])],
  ])
  stack.defer(() => void child.kill('SIGTERM'))
  const at = new Set<string>()
  const talk = { at, answered: 0, unanswered: 0, isOver: false }
  const first = Promise.withResolvers<void>()
  if (child.stdout === null) throw new Error('its output is read')
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => {
    const backend = /"at":"([^"]+)"/.exec(line)?.[1]
    if (backend === undefined) talk.unanswered++
    else {
      talk.answered++
      at.add(backend)
    }
    first.resolve()
  })
  lines.on('close', () => {
    talk.isOver = true
    first.resolve()
  })
  await first.promise
  return talk
}
