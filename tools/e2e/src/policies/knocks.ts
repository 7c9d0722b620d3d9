import {
  applyAll,
  eventually,
  ovnCentral,
  placeOf,
  startAt,
  type ApiObject,
  type Cluster,
  type MatrixRuleInput,
  type PodObject,
} from '@kube-ovn/lab'
import { expect } from 'vitest'
import { during, expectClaims, port } from './claims.ts'
import { untilEdited } from './packets.ts'

/** Returns when each of those who knock was let in, from now on. */
export async function untilAllOpen(opened: readonly { readonly times: number }[]): Promise<void> {
  const before = opened.map(({ times }) => times)
  await eventually('all are let in', () =>
    Promise.resolve(opened.every(({ times }, index) => times > (before[index] ?? 0)) || undefined),
  )
}

/** Tries to connect from a pod again and again, and counts how often it could. */
export function knockAt(
  cluster: Cluster,
  from: PodObject,
  address: string,
  stack: DisposableStack,
  at: number = port,
): { readonly times: number } {
  const script =
    'while :; do timeout 0.3 bash -c ": < /dev/tcp/$0/$1" 2> /dev/null && echo open; sleep 0.05; done'
  const quoted = script.replace('$0', address).replace('$1', String(at))
  const child = startAt(placeOf(cluster, from), ['bash', '-c', quoted])
  stack.defer(() => void child.kill('SIGTERM'))
  const seen = { times: 0 }
  child.stdout?.on('data', (chunk: Buffer) => (seen.times += chunk.toString().split('open').length - 1))
  return seen
}

/** A rule of whatever kind that is edited to and fro, and who is let in by one of its versions alone. */
export interface Door {
  readonly open: ApiObject
  readonly closed: ApiObject
  /** Name of its port group. */
  readonly group: string
  readonly from: readonly PodObject[]
  readonly addresses: readonly string[]
  readonly port?: number
  /** What is so while it is closed. */
  readonly claims: readonly MatrixRuleInput[]
}

/** Of connections that are not allowed any more none begins once that is in effect, which it is within a second. */
export async function expectNoneBegin(cluster: Cluster, door: Door): Promise<void> {
  const { open, closed, group, from, addresses, claims } = door
  const central = await ovnCentral(cluster)
  using knocking = new DisposableStack()
  const opened = from.flatMap((pod) =>
    addresses.map((address) => knockAt(cluster, pod, address, knocking, door.port)),
  )
  const count = () => opened.map(({ times }) => times)
  const begun: number[] = []
  await during(cluster, [closed], async () => {
    await expectClaims(cluster, 'they are kept off', claims)
    for (let round = 0; round < 3; round++) {
      await untilEdited(central, group, () => applyAll(cluster.api, [open]))
      await untilAllOpen(opened)
      const before = count()
      await untilEdited(central, group, () => applyAll(cluster.api, [closed]))
      const atOnce = count()
      await expectClaims(cluster, 'they are kept off again', claims)
      // One of each may have been told of later.
      for (const [index, times] of count().entries())
        expect(times).toBeLessThanOrEqual((atOnce[index] ?? 0) + 1)
      begun.push(Math.max(...count().map((times, index) => times - (before[index] ?? 0))))
    }
  })
  // Of a machine that was busy in one round, another one tells.
  expect(Math.min(...begun)).toBeLessThanOrEqual(mostKnocksASecond)
}

/** Between two of them somebody waits 50 ms. */
const mostKnocksASecond = 20
