import { silentLogger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Gobgp, missingForGobgp, type GobgpNeighbor } from '@kube-ovn/testing-bgp'
import type { PeerOptions } from './peer-options.ts'
import type { PeerStatus } from './peer-status.ts'
import type { Route } from './route.ts'
import { BgpSpeaker, type SpeakerOptions } from './speaker.ts'
import { dialTcp } from './tcp.ts'

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
const missing = missingForNamespaces() ?? missingForGobgp()
const own = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const
const theirs = { ipv4: '192.0.2.2', ipv6: '2001:db8::2' } as const

const routes: readonly Route[] = [
  { prefix: '10.16.0.5/32', nextHop: own.ipv4, communities: ['65000:7'] },
  { prefix: '10.17.0.0/16', nextHop: own.ipv4 },
]
const routes6: readonly Route[] = [{ prefix: 'fd00:10:16::5/128', nextHop: own.ipv6 }]

describe.skipIf(missing)(`with GoBGP${missing === undefined ? '' : ` (${missing})`}`, () => {
  let network: TestNetwork
  let here: TestNamespace
  let there: TestNamespace

  beforeEach(() => {
    network = openTestNetwork()
    here = network.namespace('own')
    there = network.namespace('peer')
    network.connect(
      { namespace: here, name: 'eth0', addresses: [`${own.ipv4}/24`, `${own.ipv6}/64`] },
      { namespace: there, name: 'eth0', addresses: [`${theirs.ipv4}/24`, `${theirs.ipv6}/64`] },
    )
  })
  afterEach(() => network[Symbol.dispose]())

  function gobgp(neighbor: Partial<GobgpNeighbor> = {}, more: { as?: number } = {}): Gobgp {
    const common = { as: 65_000, isPassive: true, ...neighbor }
    const addresses = neighbor.address === undefined ? [own.ipv4, own.ipv6] : [neighbor.address]
    return new Gobgp(there, {
      ...{ as: more.as ?? 65_001, routerId: theirs.ipv4 },
      neighbors: addresses.map((address) => ({ ...common, address })),
    })
  }

  function speaker(peer: Partial<PeerOptions> = {}, more: Partial<SpeakerOptions> = {}): BgpSpeaker {
    const addresses = peer.address === undefined ? [theirs.ipv4, theirs.ipv6] : [peer.address]
    return new BgpSpeaker(
      {
        ...{ as: 65_000, identifier: own.ipv4, holdTimeS: 90, listenPort: 179, netns: here.path },
        peers: addresses.map((address) => ({
          ...{ as: 65_001, port: 179, isPassive: false, ttl: 1, extendedNextHop: false },
          families: address.includes(':') ? (['ipv6'] as const) : (['ipv4'] as const),
          ...{ ...peer, address },
        })),
        ...more,
      },
      { dial: dialTcp, clock, log: silentLogger, random: Math.random },
    )
  }

  async function untilState(speaker: BgpSpeaker, state: PeerStatus['state']): Promise<void> {
    await expect
      .poll(() => speaker.statuses.map((status) => status.state))
      .toEqual(speaker.statuses.map(() => state))
  }

  it('announces and withdraws routes of both families', async () => {
    await using router = gobgp()
    await using bgp = speaker()
    bgp.announce(theirs.ipv4, routes)
    bgp.announce(theirs.ipv6, routes6)
    await bgp.start()
    await untilState(bgp, 'established')
    await expect.poll(() => [...router.routes('ipv4').keys()]).toEqual(['10.16.0.5/32', '10.17.0.0/16'])
    expect(router.routes('ipv4').get('10.16.0.5/32')).toMatchObject({
      ...{ nextHop: own.ipv4, asPath: [65_000], communities: [65_000 * 65_536 + 7] },
    })
    expect([...router.routes('ipv6').values()]).toMatchObject([
      { prefix: 'fd00:10:16::5/128', nextHop: own.ipv6, asPath: [65_000] },
    ])
    bgp.announce(theirs.ipv4, routes.slice(1))
    await expect.poll(() => [...router.routes('ipv4').keys()]).toEqual(['10.17.0.0/16'])
    expect(bgp.statuses[0]).toMatchObject({
      wanted: 1,
      advertised: 1,
      flaps: 0,
      agreement: { holdTimeS: 60 },
    })
    const heard = (): unknown => bgp.statuses.map((status) => status.heard)
    router.ask('global', 'rib', 'add', '198.51.100.0/24')
    router.ask('global', 'rib', 'add', '2001:db8:9::/48', '-a', 'ipv6')
    const none = { ipv4: 0, ipv6: 0, isBeyondBound: false }
    await expect.poll(heard).toEqual([
      { ...none, ipv4: 1 },
      { ...none, ipv6: 1 },
    ])
    router.ask('global', 'rib', 'del', '198.51.100.0/24')
    await expect.poll(heard).toEqual([none, { ...none, ipv6: 1 }])
    router.ask('global', 'rib', 'del', '2001:db8:9::/48', '-a', 'ipv6')
    await expect.poll(heard).toEqual([none, none])
    await bgp.stop({ keepsRoutes: false })
    await expect.poll(() => router.routes('ipv4').size + router.routes('ipv6').size).toBe(0)
  })

  it('announces IPv4 routes with IPv6 next hops over IPv6', async () => {
    await using router = gobgp({ address: own.ipv6 })
    await using bgp = speaker({ address: theirs.ipv6, families: ['ipv4', 'ipv6'], extendedNextHop: true })
    bgp.announce(theirs.ipv6, [{ prefix: '10.16.0.5/32', nextHop: own.ipv6 }, ...routes6])
    await bgp.start()
    await expect.poll(() => router.routes('ipv4').get('10.16.0.5/32')?.nextHop).toBe(own.ipv6)
    await expect.poll(() => router.routes('ipv6').size).toBe(1)
  })

  it.each([
    { name: 'of another AS', as: 65_001, localPreferences: [undefined, undefined] },
    { name: 'of the own AS', as: 65_000, localPreferences: [200, 100] },
  ])('tells a router $name what is set for its routes', async ({ as, localPreferences }) => {
    await using router = gobgp({}, { as })
    await using bgp = speaker({ as })
    const set = {
      ...{ communities: ['65000:7', '65000:65535'], largeCommunities: ['65000:1:4294967295'] },
      ...{ localPreference: 200, med: 4_294_967_295 },
    }
    bgp.announce(theirs.ipv4, [
      { prefix: '10.16.0.5/32', nextHop: own.ipv4, ...set },
      { prefix: '10.17.0.0/16', nextHop: own.ipv4 },
    ])
    bgp.announce(theirs.ipv6, [{ prefix: 'fd00:10:16::5/128', nextHop: own.ipv6, ...set, med: 0 }])
    await bgp.start()
    await expect.poll(() => [router.routes('ipv4').size, router.routes('ipv6').size]).toEqual([2, 1])
    const communities = [65_000 * 65_536 + 7, 65_000 * 65_536 + 65_535]
    const arrived = { communities, largeCommunities: ['65000:1:4294967295'] }
    const [localPreference, byDefault] = localPreferences
    const { ipv4, ipv6 } = { ipv4: router.routes('ipv4'), ipv6: router.routes('ipv6') }
    expect(ipv4.get('10.16.0.5/32')).toMatchObject({ ...arrived, localPreference, med: 4_294_967_295 })
    expect(ipv4.get('10.17.0.0/16')).toMatchObject({
      ...{ communities: [], largeCommunities: [], localPreference: byDefault, med: undefined },
    })
    expect(ipv6.get('fd00:10:16::5/128')).toMatchObject({ ...arrived, localPreference, med: 0 })
  })

  it('has AS numbers of four bytes, and sessions within an AS', async () => {
    for (const [as, peerAs, path] of [
      [4_200_000_000, 4_200_000_001, [4_200_000_000]],
      [65_000, 65_000, []],
    ] as const) {
      await using router = gobgp({ as }, { as: peerAs })
      await using bgp = speaker({ as: peerAs }, { as })
      bgp.announce(theirs.ipv4, routes)
      await bgp.start()
      await expect.poll(() => router.routes('ipv4').get('10.17.0.0/16')?.asPath).toEqual(path)
    }
  })

  it('signs by MD5, dialling and waiting, and is not heard with another password', async () => {
    for (const isPassive of [false, true]) {
      await using router = gobgp({ password: 'secret', isPassive: !isPassive })
      await using bgp = speaker({ password: 'secret', isPassive })
      bgp.announce(theirs.ipv4, routes)
      bgp.announce(theirs.ipv6, routes6)
      await bgp.start()
      await untilState(bgp, 'established')
      await expect.poll(() => router.routes('ipv4').size + router.routes('ipv6').size).toBe(3)
    }
    await using router = gobgp({ password: 'secret', address: own.ipv4 })
    await using bgp = speaker({ password: 'another', address: theirs.ipv4 })
    await bgp.start()
    await expect.poll(() => bgp.statuses[0]?.lastEnd?.reason).toContain('no answer within')
    expect(router.routes('ipv4').size).toBe(0)
  })

  it('says why there is no session: another AS, nobody there', async () => {
    await using bgp = speaker({ address: theirs.ipv4 })
    await bgp.start()
    await expect.poll(() => bgp.statuses[0]?.lastEnd).toMatchObject({ by: 'transport' })
    await using _router = gobgp({}, { as: 65_009 })
    await expect.poll(() => bgp.statuses[0]?.lastEnd?.reason).toBe('OPEN message error: bad peer AS')
  })

  it('comes again when the peer was killed, and tells it everything', async () => {
    await using bgp = speaker({ address: theirs.ipv4 })
    bgp.announce(theirs.ipv4, routes)
    await bgp.start()
    {
      await using router = gobgp()
      await expect.poll(() => router.routes('ipv4').size).toBe(2)
      await router.kill()
    }
    await using router = gobgp()
    await expect.poll(() => router.routes('ipv4').size).toBe(2)
    expect(bgp.statuses[0]).toMatchObject({ flaps: 1, state: 'established' })
  })

  it('leaves its routes to the peer over a restart, and what is gone meanwhile is gone after it', async () => {
    const gracefulRestart = { timeS: 20, deferralS: 60 }
    await using router = gobgp({ gracefulRestart: true, address: own.ipv4 })
    const before = speaker({ address: theirs.ipv4 }, { gracefulRestart })
    before.announce(theirs.ipv4, routes)
    await before.start()
    await expect.poll(() => router.routes('ipv4').size).toBe(2)
    await before.stop({ keepsRoutes: true })
    await expect.poll(() => router.routes('ipv4').get('10.17.0.0/16')?.isStale).toBe(true)
    expect(router.routes('ipv4').size).toBe(2)
    await using after = speaker({ address: theirs.ipv4 }, { gracefulRestart })
    await after.start()
    await untilState(after, 'established')
    expect(router.routes('ipv4').size).toBe(2)
    after.announce(theirs.ipv4, routes.slice(1))
    await expect
      .poll(() => [...router.routes('ipv4').values()])
      .toMatchObject([{ prefix: '10.17.0.0/16', isStale: false }])
  })

  it('leaves its routes to the peer for the time that it asks for, and no longer', async () => {
    await using router = gobgp({ gracefulRestart: true, address: own.ipv4 })
    const bgp = speaker({ address: theirs.ipv4 }, { gracefulRestart: { timeS: 2, deferralS: 60 } })
    bgp.announce(theirs.ipv4, routes)
    await bgp.start()
    await expect.poll(() => router.routes('ipv4').size).toBe(2)
    await bgp.stop({ keepsRoutes: true })
    const stoppedMs = performance.now()
    await expect.poll(() => router.routes('ipv4').get('10.17.0.0/16')?.isStale).toBe(true)
    await expect.poll(() => router.routes('ipv4').size, { timeout: 10_000 }).toBe(0)
    expect(performance.now() - stoppedMs).toBeGreaterThanOrEqual(2_000)
  })

  it('tells 10,000 routes, and one more', async () => {
    await using router = gobgp({ address: own.ipv4 })
    await using bgp = speaker({ address: theirs.ipv4 })
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      prefix: `10.16.${n >> 8}.${n & 255}/32`,
      nextHop: own.ipv4,
    }))
    await bgp.start()
    await untilState(bgp, 'established')
    const startedMs = performance.now()
    bgp.announce(theirs.ipv4, many)
    await expect
      .poll(() => (router.ask('global', 'rib', 'summary', '-a', 'ipv4') as { num_path?: number }).num_path)
      .toBe(10_000)
    const changedMs = performance.now()
    bgp.announce(theirs.ipv4, [...many, { prefix: '10.200.0.0/16', nextHop: own.ipv4 }])
    await expect
      .poll(() => (router.ask('global', 'rib', 'summary', '-a', 'ipv4') as { num_path?: number }).num_path, {
        interval: 10,
      })
      .toBe(10_001)
    console.log(
      `10,000 routes in ${Math.round(changedMs - startedMs)} ms, one more in ${Math.round(performance.now() - changedMs)} ms`,
    )
  })

  it('stands what is no BGP, and who is no peer', async () => {
    await using bgp = speaker({ isPassive: true })
    bgp.announce(theirs.ipv4, routes)
    await bgp.start()
    there.run('bash', '-c', `head -c 4096 /dev/urandom > /dev/tcp/${own.ipv4}/179 || true`)
    await expect.poll(() => bgp.statuses[0]?.lastEnd?.errorCode).toBe(1)
    there.run('ip', 'address', 'add', '192.0.2.3/24', 'dev', 'eth0')
    await using router = gobgp({ isPassive: false })
    await expect.poll(() => router.routes('ipv4').size).toBe(2)
  })
})
