import { writeSysctl } from '@kube-ovn/netlink'
import { missingForNamespaces, openTestNetwork } from '@kube-ovn/testing-net'
import type { Clock } from '@kube-ovn/time'
import { describe, expect, it } from 'vitest'
import { EchoSocket } from './echo-socket.ts'
import { EchoFailedError, EchoSocketDeniedError } from './errors.ts'

const missing = missingForNamespaces()
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
const three = { count: 3, intervalMs: 10, betweenMs: 0 }
const timeoutMs = 10_000
const everyGroup = '0 2147483647'

describe.skipIf(missing)(`an echo socket${missing === undefined ? '' : ` (${missing})`}`, () => {
  it.each([
    ['ipv4', '10.0.0.2', '10.0.0.9'],
    ['ipv6', 'fd00::2', 'fd00::9'],
  ] as const)('gets answers by %s, and none from who is not there', async (family, there, gone) => {
    using network = openTestNetwork()
    const [own, peer] = [network.namespace('own'), network.namespace('peer')]
    const ends = [
      { namespace: own, name: 'eth0', addresses: ['10.0.0.1/24', 'fd00::1/64'] },
      { namespace: peer, name: 'eth0', addresses: ['10.0.0.2/24', 'fd00::2/64'] },
    ] as const
    network.connect(...ends)
    writeSysctl(own.path, 'ipv4/ping_group_range', everyGroup)
    using socket = new EchoSocket({ family, clock, netns: own.path })
    const outside = family === 'ipv4' ? '192.0.2.1' : '2001:db8::1'
    const startedMs = performance.now()
    const [answered, lost, unsent] = await socket.ping(
      [
        { address: there, timeoutMs },
        { address: gone, timeoutMs: 100 },
        { address: outside, timeoutMs },
      ],
      three,
    )
    // Who has answered is waited for no longer.
    expect(performance.now() - startedMs).toBeLessThan(timeoutMs)
    expect(answered).toMatchObject({ sent: 3, errno: undefined })
    expect(answered?.roundTripMs).toHaveLength(3)
    expect(Math.min(...(answered?.roundTripMs ?? []))).toBeGreaterThan(0)
    expect(lost).toEqual({ sent: 3, roundTripMs: [], errno: undefined })
    expect(unsent).toEqual({ sent: 3, roundTripMs: [], errno: 'ENETUNREACH' })
  })

  it('asks a thousand addresses by one socket, and another time meanwhile', async () => {
    using network = openTestNetwork()
    const own = network.namespace('own')
    own.ip('link', 'set', 'lo', 'up')
    writeSysctl(own.path, 'ipv4/ping_group_range', everyGroup)
    using socket = new EchoSocket({ family: 'ipv4', clock, netns: own.path })
    const targets = Array.from({ length: 1000 }, (_, n) => ({
      address: `127.1.${n >> 8}.${n & 0xff}`,
      timeoutMs,
    }))
    const results = await Promise.all([
      socket.ping(targets, three),
      socket.ping(targets, { ...three, betweenMs: 0.1 }),
    ])
    for (const result of results)
      expect(result.filter(({ roundTripMs }) => roundTripMs.length === 3)).toHaveLength(1000)
    expect(await socket.ping([], three)).toEqual([])
  })

  it('waits between packets as it is told, by the packet and by the address', async () => {
    using network = openTestNetwork()
    const own = network.namespace('own')
    own.ip('link', 'set', 'lo', 'up')
    writeSysctl(own.path, 'ipv4/ping_group_range', everyGroup)
    using socket = new EchoSocket({ family: 'ipv4', clock, netns: own.path })
    const startedMs = performance.now()
    const options = { count: 2, intervalMs: 150, betweenMs: 100 }
    const targets = [1, 2, 3].map((n) => ({ address: `127.0.0.${n}`, timeoutMs }))
    const results = await socket.ping(targets, options)
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(350)
    expect(results.map(({ roundTripMs }) => roundTripMs.length)).toEqual([2, 2, 2])
  })

  it.each([
    ['ipv4', '10.0.0.2'],
    ['ipv6', 'fd00::2'],
  ] as const)('takes by %s for lost what did not come, not what was read late', async (family, address) => {
    using network = openTestNetwork()
    const [own, peer] = [network.namespace('own'), network.namespace('peer')]
    network.connect(
      { namespace: own, name: 'eth0', addresses: ['10.0.0.1/24', 'fd00::1/64'] },
      { namespace: peer, name: 'eth0', addresses: ['10.0.0.2/24', 'fd00::2/64'] },
    )
    writeSysctl(own.path, 'ipv4/ping_group_range', everyGroup)
    using socket = new EchoSocket({ family, clock, netns: own.path })
    // Both know the other's MAC address.
    await socket.ping([{ address, timeoutMs }], three)
    // Answers come one after the other, 70 ms apart, so that none is there yet when all are asked.
    const slow = ['rate', '8kbit', 'burst', '200', 'limit', '10000']
    peer.run('tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', ...slow)
    const pinging = socket.ping([{ address, timeoutMs: 1500 }], { count: 8, intervalMs: 0, betweenMs: 0 })
    // As a process that gets no processor.
    own.run('sleep', '2')
    const [result] = await pinging
    expect(result?.roundTripMs).toHaveLength(8)
    expect(Math.max(...(result?.roundTripMs ?? []))).toBeLessThan(1500)
  })

  it('takes for lost what was sent, where hundreds that are gone leave no room for others', async () => {
    using network = openTestNetwork()
    const [own, peer] = [network.namespace('own'), network.namespace('peer')]
    network.connect(
      { namespace: own, name: 'eth0', addresses: ['10.0.0.1/16'] },
      { namespace: peer, name: 'eth0', addresses: ['10.0.255.2/16'] },
    )
    writeSysctl(own.path, 'ipv4/ping_group_range', everyGroup)
    using socket = new EchoSocket({ family: 'ipv4', clock, netns: own.path })
    const gone = Array.from({ length: 500 }, (_, n) => `10.0.${1 + (n >> 8)}.${n & 0xff}`)
    const targets = [...gone, '10.0.255.2'].map((address) => ({ address, timeoutMs: 500 }))
    const results = await socket.ping(targets, { ...three, betweenMs: 0 })
    expect(results.some(({ errno }) => errno === 'EAGAIN')).toBe(true)
    const there = results.at(-1)
    expect(there?.roundTripMs).toHaveLength(there?.sent ?? -1)
  })

  it('says what to do when the group of the process may not', () => {
    using network = openTestNetwork()
    const own = network.namespace('own')
    writeSysctl(own.path, 'ipv4/ping_group_range', '1 0')
    for (const family of ['ipv4', 'ipv6'] as const)
      expect(() => new EchoSocket({ family, clock, netns: own.path })).toThrow(EchoSocketDeniedError)
    expect(new EchoFailedError({ operation: 'socket', family: 'ipv6', errno: 'EAFNOSUPPORT' }).retry).toBe(
      'backoff',
    )
  })
})
