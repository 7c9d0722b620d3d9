import { release } from 'node:os'
import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import { dialTcp, listenTcp } from './tcp.ts'

const missing = missingForNamespaces('nft', 'ss')
const port = 179

describe.skipIf(missing)(`connections${missing === undefined ? '' : ` (${missing})`}`, () => {
  let network: TestNetwork
  let left: TestNamespace
  let right: TestNamespace

  beforeEach(() => {
    network = openTestNetwork()
    left = network.namespace('left')
    right = network.namespace('right')
    network.connect(
      { namespace: left, name: 'eth0', addresses: ['192.0.2.1/24', '2001:db8::1/64'] },
      { namespace: right, name: 'eth0', addresses: ['192.0.2.2/24', '2001:db8::2/64'] },
    )
  })
  afterEach(() => network[Symbol.dispose]())

  it.for([
    ['ipv4', '192.0.2.2'],
    ['ipv6', '2001:db8::2'],
  ] as const)(
    'of %s send what the peer missed while it was cut off within a second of its return, from both ends',
    async ([family, address], { skip }) => {
      skip(kernel() < 6.15, `Linux ${release()} has no bound of that: 6.15 has`)
      const { promise, resolve } = Promise.withResolvers<Connection>()
      await using _listener = await listenTcp(
        { family, port, ttl: 1, passwords: new Map(), netns: right.path },
        (_, connection) => resolve(connection),
      )
      using ends = new DisposableStack()
      const dial = dialTcp({ address, port, ttl: 1, netns: left.path }, AbortSignal.timeout(10_000))
      const dialled = ends.adopt(await dial, (end) => end.destroy())
      const accepted = ends.adopt(await promise, (end) => end.destroy())
      const heard = { dialled: '', accepted: '' }
      listen(dialled, (text) => (heard.dialled += text))
      listen(accepted, (text) => (heard.accepted += text))
      // On the way: neither end sees anything of it.
      for (const end of [left, right])
        end.run(
          'nft',
          'add table inet cut; add chain inet cut input { type filter hook input priority 0; }; add rule inet cut input meta l4proto tcp drop',
        )
      dialled.write(Buffer.from('there'))
      accepted.write(Buffer.from('back'))
      // By itself TCP waits 0.2 s, and twice as long each time: 1.6 s after the third.
      await expect
        .poll(() => [left, right].map((end) => waitOf(end).tries >= 3), { timeout: 60_000 })
        .toEqual([true, true])
      for (const end of [left, right]) expect(waitOf(end).ms).toBeLessThanOrEqual(1_000)
      for (const end of [left, right]) end.run('nft', 'delete table inet cut')
      await expect.poll(() => heard).toEqual({ dialled: 'back', accepted: 'there' })
    },
  )

  it('say when the peer has read what it left for a moment, however little that was', async () => {
    const { promise, resolve } = Promise.withResolvers<Connection>()
    await using _listener = await listenTcp(
      { family: 'ipv4', port, ttl: 1, passwords: new Map(), netns: right.path },
      (_, connection) => resolve(connection),
    )
    using ends = new DisposableStack()
    const to = { address: '192.0.2.2', port, ttl: 1, netns: left.path }
    const dialled = ends.adopt(await dialTcp(to, AbortSignal.timeout(10_000)), (end) => end.destroy())
    const accepted = ends.adopt(await promise, (end) => end.destroy())
    let times = 0
    listen(
      dialled,
      () => undefined,
      () => times++,
    )
    // Until the kernel takes no more: the rest is less than what Node calls much.
    const message = Buffer.alloc(4096)
    while (dialled.queuedBytes === 0) dialled.write(message)
    expect([dialled.queuedBytes, times]).toEqual([message.length, 0])
    listen(accepted, () => undefined)
    await expect.poll(() => [dialled.queuedBytes, times]).toEqual([0, 1])
    // What the kernel takes at once is nothing that anybody waits for.
    dialled.write(message)
    await expect.poll(() => times).toBe(1)
  })
})

function listen(connection: Connection, heard: (text: string) => void, drained = (): void => {}): void {
  connection.listen({
    data: (bytes) => heard(bytes.toString()),
    drained,
    closed: () => undefined,
  })
}

/** How often TCP has sent again in a row, and how long it waits until it does so again. */
function waitOf(end: TestNamespace): { readonly tries: number; readonly ms: number } {
  const [, ms, tries] =
    /\brto:(\d+)(?: backoff:(\d+))?/.exec(end.run('ss', '-Htin', 'state', 'established')) ?? []
  return { tries: Number(tries ?? 0), ms: Number(ms) }
}

/** Version of the kernel, as a number. */
function kernel(): number {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major + minor / 100
}
