import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import { Gobgp, missingForGobgp } from '@kube-ovn/testing-bgp'
import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import type { Clock } from '@kube-ovn/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BgpSpeaker } from '../speaker.ts'
import { dialTcp } from '../tcp.ts'
import { encodeBfdPacket } from './packet.ts'

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
const missing = missingForNamespaces() ?? missingForGobgp()
/** Three times as long neither end may stand still on a busy machine. */
const intervalMs = 1_000
/** What may pass beyond the detection time, until a session has ended. */
const reactionMs = 1_000
const own = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const
const theirs = { ipv4: '192.0.2.2', ipv6: '2001:db8::2' } as const

describe.skipIf(missing)(`BFD with GoBGP${missing === undefined ? '' : ` (${missing})`}`, () => {
  let network: TestNetwork
  let here: TestNamespace
  let there: TestNamespace
  let log: RecordingLogger

  beforeEach(() => {
    log = recordingLogger()
    network = openTestNetwork()
    here = network.namespace('own')
    there = network.namespace('peer')
    network.connect(
      { namespace: here, name: 'eth0', addresses: [`${own.ipv4}/24`, `${own.ipv6}/64`] },
      { namespace: there, name: 'eth0', addresses: [`${theirs.ipv4}/24`, `${theirs.ipv6}/64`] },
    )
  })
  afterEach(() => network[Symbol.dispose]())

  function router(): Gobgp {
    return new Gobgp(there, {
      ...{ as: 65_001, routerId: theirs.ipv4 },
      neighbors: [own.ipv4, own.ipv6].map((address) => ({
        ...{ address, as: 65_000, isPassive: true, bfdMs: intervalMs },
      })),
    })
  }

  function speaker(changed?: (peer: string) => void): BgpSpeaker {
    return new BgpSpeaker(
      {
        ...{ as: 65_000, identifier: own.ipv4, holdTimeS: 90, listenPort: 179, netns: here.path },
        bfd: { minTxMs: intervalMs, minRxMs: intervalMs, multiplier: 3 },
        peers: [theirs.ipv4, theirs.ipv6].map((address) => ({
          ...{ address, as: 65_001, port: 179, isPassive: false, ttl: 1, extendedNextHop: false },
          families: address.includes(':') ? (['ipv6'] as const) : (['ipv4'] as const),
        })),
      },
      { dial: dialTcp, clock, log, random: Math.random, ...(changed && { changed }) },
    )
  }

  async function untilUp(bgp: BgpSpeaker): Promise<void> {
    const both = { state: 'established', bfd: expect.objectContaining({ state: 'up' }) }
    await expect
      .poll(() => bgp.statuses)
      .toEqual([expect.objectContaining(both), expect.objectContaining(both)])
  }

  it('ends sessions of both families within what it is set to when the link is dead, and they come again', async () => {
    await using _peer = router()
    const endedMs = new Map<string, number>()
    await using bgp = speaker((peer) => {
      if (bgp.statusOf(peer)?.flaps === 1 && !endedMs.has(peer)) endedMs.set(peer, performance.now())
    })
    await bgp.start()
    await untilUp(bgp)
    // The link stays up at the own end, as with a switch between the two.
    there.run(
      'nft',
      'add table inet silence; add chain inet silence input { type filter hook input priority 0; policy drop; }',
    )
    there.run('nft', 'add chain inet silence output { type filter hook output priority 0; policy drop; }')
    // A timer of this process, which stands still with it where the machine does.
    const due = delay(3 * intervalMs).then(() => performance.now())
    await expect
      .poll(() => bgp.statuses.map(({ lastEnd, flaps }) => ({ reason: lastEnd?.reason, flaps })), {
        timeout: 60_000,
      })
      .toEqual([theirs.ipv4, theirs.ipv6].map(() => ({ reason: expect.any(String), flaps: 1 })))
    const dueMs = await due
    const late = [...endedMs.values()].map((ms) => Math.round(ms - dueMs))
    console.log(`ended ${late.join(' and ')} ms after the detection time`)
    expect(late).toHaveLength(2)
    expect(Math.max(...late)).toBeLessThanOrEqual(reactionMs)
    expect(log.lines.filter(({ message }) => message === 'BFD session was lost')).toMatchObject(
      [theirs.ipv4, theirs.ipv6].map(() => ({
        fields: { reason: `nothing was heard for ${3 * intervalMs} ms` },
      })),
    )
    there.run('nft', 'delete table inet silence')
    await untilUp(bgp)
    expect(bgp.statuses[0]?.bfd).toMatchObject({ failures: 1, remoteState: 'up' })
  })

  it('passes over packets that a router has forwarded, those of strangers, and what is none', async () => {
    await using _peer = router()
    await using bgp = speaker()
    await bgp.start()
    await untilUp(bgp)
    const counters = { ...bgp.bfdCounters }
    // One that says "down": with the TTL of one that has come a way, then as from the link, from an address that nobody watches.
    const down = encodeBfdPacket({
      ...{ diagnostic: 0, state: 'down', poll: false, final: false, demand: false, multiplier: 3 },
      ...{ myDiscriminator: 7, yourDiscriminator: 0, desiredMinTxUs: 1_000_000, requiredMinRxUs: 1_000_000 },
    })
    there.run('ip', 'address', 'add', '192.0.2.3/24', 'dev', 'eth0')
    for (const [ttl, from, bytes] of [
      [64, theirs.ipv4, down],
      [255, '192.0.2.3', down],
      [255, theirs.ipv4, Buffer.from('nothing of BFD')],
    ] as const)
      // Not while this process waits and sends nothing itself.
      await once(there.start(process.execPath, '-e', sending(bytes, ttl, from)), 'exit')
    await expect.poll(() => bgp.bfdCounters?.invalid).toBe((counters.invalid ?? 0) + 1)
    expect(bgp.bfdCounters?.unknown).toBe((counters.unknown ?? 0) + 1)
    expect(bgp.statuses.map(({ flaps, bfd }) => [flaps, bfd?.state])).toEqual([
      [0, 'up'],
      [0, 'up'],
    ])
  })

  it('goes on with BGP alone while somebody else has the port, and says so once', async () => {
    const other = here.start(process.execPath, '-e', `require('dgram').createSocket('udp4').bind(3784)`)
    await expect.poll(() => here.run('ss', '-Hlun', 'sport', '=', ':3784')).toContain('3784')
    await using _peer = router()
    await using bgp = speaker()
    await bgp.start()
    await expect.poll(() => bgp.statuses.map(({ state }) => state)).toEqual(['established', 'established'])
    expect(log.lines.filter(({ message }) => message === 'BFD is not possible')).toMatchObject([
      { level: 'warn', fields: { of: 'ipv4' } },
    ])
    other.kill('SIGKILL')
    await untilUp(bgp)
  })
})

/** A script that sends one packet. */
function sending(bytes: Buffer, ttl: number, from: string): string {
  return `const socket = require('dgram').createSocket('udp4')
    socket.bind(0, '${from}', () => {
      socket.setTTL(${ttl})
      socket.send(Buffer.from('${bytes.toString('hex')}', 'hex'), 3784, '${own.ipv4}', () => socket.close())
    })`
}
