import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAttempt, type Attempt, type Outcome } from './attempt.ts'
import { openGroupListener, openListener, probeGroups, type ListenerPlan } from './listener.ts'
import { measureRate } from './rate.ts'
import { Sightings } from './sightings.ts'

const addresses = {
  client: { ipv4: '10.9.0.1', ipv6: 'fd09::1' },
  server: { ipv4: '10.9.0.2', ipv6: 'fd09::2' },
}
const families = ['ipv4', 'ipv6'] as const
const port = 18_080

let network: TestNetwork
let client: TestNamespace
let server: TestNamespace

describe.skipIf(missingForNamespaces() !== undefined)('a probe between two namespaces', () => {
  beforeAll(() => {
    network = openTestNetwork()
    client = network.namespace('client')
    server = network.namespace('server')
    network.connect(
      { namespace: client, name: 'eth0', addresses: ['10.9.0.1/24', 'fd09::1/64'] },
      { namespace: server, name: 'eth0', addresses: ['10.9.0.2/24', 'fd09::2/64'] },
    )
    client.run('ip', 'route', 'add', 'default', 'via', '10.9.0.2')
  })

  afterAll(() => network[Symbol.dispose]())

  function attempt(
    family: (typeof families)[number],
    more: Pick<Attempt, 'protocol'> & Partial<Attempt>,
  ): Attempt {
    return {
      netns: client.path,
      source: addresses.client[family],
      target: addresses.server[family],
      port,
      isOurs: true,
      timeoutMs: 1500,
      ...more,
    }
  }

  /** Runs an attempt while a listener of ours waits at its target. */
  async function listened(protocol: ListenerPlan['protocol'], asked: Attempt): Promise<Outcome> {
    const sightings = new Sightings()
    using listener = openListener({ netns: server.path, address: asked.target, port, protocol }, sightings)
    expect(listener).toBeDefined()
    return await runAttempt(asked, sightings)
  }

  it.each(families)('pings over %s, and sees the TTL of the answer', async (family) => {
    const outcome = await runAttempt(attempt(family, { protocol: 'ping' }), new Sightings())
    expect(outcome).toMatchObject({ kind: 'reached', answerTtl: 64 })
  })

  it.each(families)('asks by UDP over %s, and the listener sees source, TTL and DSCP', async (family) => {
    const outcome = await listened('udp', attempt(family, { protocol: 'udp', dscp: 46 }))
    const seen = { source: addresses.client[family], ttl: 64, dscp: 46 }
    expect(outcome).toMatchObject({ kind: 'reached', seen })
  })

  it.each(families)('asks by TCP and HTTP over %s, and the listener sees the source', async (family) => {
    for (const protocol of ['tcp', 'http'] as const) {
      const outcome = await listened('tcp', attempt(family, { protocol }))
      expect(outcome).toMatchObject({ kind: 'reached', seen: { source: addresses.client[family] } })
    }
  })

  it.each(families)('sends to a group over %s, and tells members apart', async (family) => {
    const sightings = new Sightings()
    const plan = { netns: server.path, address: addresses.server[family], group: probeGroups[family], port }
    using _ = openGroupListener(plan, sightings)
    const [member, stranger] = await Promise.all([
      runAttempt(attempt(family, { protocol: 'multicast' }), sightings),
      runAttempt(attempt(family, { protocol: 'multicast', target: addresses.client[family] }), sightings),
    ])
    expect(member).toMatchObject({ kind: 'reached', seen: { source: addresses.client[family] } })
    expect(stranger).toEqual({ kind: 'lost', reason: 'no answer' })
  })

  it('tells a closed port from silence', async () => {
    const sightings = new Sightings()
    expect(await runAttempt(attempt('ipv4', { protocol: 'tcp' }), sightings)).toEqual({
      kind: 'lost',
      reason: 'ECONNREFUSED',
    })
    expect(await runAttempt(attempt('ipv4', { protocol: 'udp' }), sightings)).toEqual({
      kind: 'lost',
      reason: 'ECONNREFUSED',
    })
    server.run('ip', 'route', 'add', 'blackhole', '192.0.2.0/24')
    const silent = attempt('ipv4', { protocol: 'ping', target: '192.0.2.1' })
    expect(await runAttempt(silent, sightings)).toEqual({ kind: 'lost', reason: 'no answer' })
  })

  it('tells a lost answer from a lost request', async () => {
    server.run('ip', 'rule', 'add', 'iif', 'lo', 'blackhole', 'priority', '1')
    try {
      const outcome = await listened('udp', attempt('ipv4', { protocol: 'udp' }))
      expect(outcome).toMatchObject({ kind: 'lost', seen: { source: '10.9.0.1' } })
    } finally {
      server.run('ip', 'rule', 'del', 'priority', '1')
    }
  })

  it('reaches by SCTP, or says that the kernel has none', async () => {
    const outcome = await runAttempt(attempt('ipv4', { protocol: 'sctp', isOurs: false }), new Sightings())
    expect(outcome).toSatisfy(
      ({ kind, reason }: { kind: string; reason: string }) =>
        (kind === 'skipped' && reason.startsWith('the kernel has no sctp')) ||
        (kind === 'lost' && reason === 'ECONNREFUSED'),
    )
  })

  it('leaves a port to the program that listens there', () => {
    const plan: ListenerPlan = { netns: server.path, address: '10.9.0.2', port, protocol: 'tcp' }
    using first = openListener(plan, new Sightings())
    expect(first).toBeDefined()
    expect(openListener(plan, new Sightings())).toBeUndefined()
  })

  it('measures how fast a stream goes', async () => {
    const rate = await measureRate(
      { netns: client.path },
      { netns: server.path, address: '10.9.0.2', port },
      200,
    )
    expect(rate.mbps).toBeGreaterThan(1)
    expect(rate.bytes).toBeGreaterThan(100_000)
  })
})
