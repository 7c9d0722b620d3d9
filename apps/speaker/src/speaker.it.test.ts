import { rmSync, writeFileSync } from 'node:fs'
import { KubeDeniedError, nodes, services, type KubeClient } from '@kube-ovn/kube'
import {
  bgpPeerResource,
  iptablesEipResource,
  subnetResource,
  type BgpPeer,
  type IptablesEip,
} from '@kube-ovn/kube-api'
import { Gobgp, missingForGobgp } from '@kube-ovn/testing-bgp'
import { describe, expect, it, vi } from 'vitest'
import { account, bgp, own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
/** The objects of the sessions of node-1. */
const [named, namedV6] = ['node-1.192-0-2-2', 'node-1.2001-db8-0-0-0-0-0-2'] as const

describe.skipIf(missing)(`a speaker${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()
  const told = (): Readonly<Record<string, string>> => node.told()

  it('announces what annotations ask for, of both families, and follows changes', async () => {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'local')
    await node.createPod('here', 'node-1', '10.16.0.5,fd00:10:16::5')
    await node.createPod('there', 'node-2', '10.16.0.6')
    const metadata = { namespace: 'default', name: 'web', annotations: { [bgp]: 'true' } }
    const { spec } = await node.api.client.create(services, { metadata, spec: { ports: [{ port: 80 }] } })
    node.start('--announce-cluster-ip')
    const ofService = { [`${spec?.clusterIP ?? ''}/32`]: own.ipv4 }
    const ofPod = { '10.16.0.5/32': own.ipv4, 'fd00:10:16::5/128': own.ipv6 }
    await expect.poll(told).toEqual({ ...ofService, ...ofPod })

    await node.removePod('here')
    await expect.poll(told).toEqual(ofService)

    const annotate = (policy: string): Promise<unknown> =>
      node.api.client.patch(subnetResource, { name: 'red' }, 'application/merge-patch+json', {
        metadata: { annotations: { [bgp]: policy } },
      })
    await annotate('cluster')
    await expect.poll(told).toEqual({
      ...ofService,
      ...{ '10.16.0.0/16': own.ipv4, 'fd00:10:16::/112': own.ipv6, '10.16.0.6/32': own.ipv4 },
    })
    await annotate('elsewhere')
    await expect.poll(told).toEqual(ofService)
    expect(node.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ object: 'Subnet/red', field: bgp, value: 'elsewhere' }),
      }),
    )
    const written = (await node.api.writes()).map(({ resource }) => resource)
    expect(written.filter((resource) => !resource.startsWith('bgppeers'))).toEqual([])
  })

  it('has next hops that follow the routes of the node', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    node.here.run('ip', 'address', 'add', '192.0.2.8/24', 'dev', 'eth0')
    node.here.run(
      'ip',
      'route',
      'add',
      `${router.ipv4}/32`,
      'dev',
      'eth0',
      'src',
      '192.0.2.8',
      'table',
      '100',
    )
    node.start()
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    node.here.run('ip', 'address', 'add', '192.0.2.7/24', 'dev', 'eth0')
    node.here.run('ip', 'route', 'replace', `${router.ipv4}/32`, 'dev', 'eth0', 'src', '192.0.2.7')
    await expect.poll(told).toEqual({ '10.16.0.0/16': '192.0.2.7' })
    // A rule alone leads another way.
    node.here.run('ip', 'rule', 'add', 'to', router.ipv4, 'table', '100')
    await expect.poll(told).toEqual({ '10.16.0.0/16': '192.0.2.8' })
  })

  it('announces IPv4 over IPv6, and node addresses in the place of its own', async () => {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    node.start('--extended-nexthop', '--neighbor-address=', '--node-ips=192.0.2.77')
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv6, 'fd00:10:16::/112': own.ipv6 })
    for (const { stop } of node.running) stop.abort()
    await expect.poll(told).toEqual({})
    node.start('--neighbor-ipv6-address=', '--node-ips=192.0.2.77')
    await expect.poll(told).toEqual({ '10.16.0.0/16': '192.0.2.77' })
  })

  it('keeps its routes over a restart, and withdraws what is gone after it', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'local')
    await node.createPod('a', 'node-1', '10.16.0.5')
    await node.createPod('b', 'node-1', '10.16.0.6')
    const stop = node.start('--graceful-restart', '--neighbor-ipv6-address=')
    await expect.poll(told).toEqual({ '10.16.0.5/32': own.ipv4, '10.16.0.6/32': own.ipv4 })
    stop.abort()
    await node.running[0]?.ended
    await expect.poll(() => node.peer.routes('ipv4').get('10.16.0.5/32')?.isStale).toBe(true)
    await node.removePod('b')
    node.start('--graceful-restart', '--neighbor-ipv6-address=')
    await expect.poll(told).toEqual({ '10.16.0.5/32': own.ipv4 })
    expect(node.peer.routes('ipv4').get('10.16.0.5/32')?.isStale).toBe(false)
  })

  it('announces nothing once its Node is gone, and again when it is back', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    await node.createPod('here', 'node-1', '10.16.0.5', 'local')
    node.start('--neighbor-ipv6-address=')
    const all = { '10.16.0.0/16': own.ipv4, '10.16.0.5/32': own.ipv4 }
    const withdrawals: Withdrawal[] = []
    for (let round = 0; round < tries; round++) {
      await expect.poll(told).toEqual(all)
      const remove = (): Promise<unknown> => node.api.client.remove(nodes, { name: 'node-1' })
      withdrawals.push(await withdrawalBy(remove, told, {}))
      await node.api.client.create(nodes, { metadata: { name: 'node-1' } })
    }
    await expect.poll(told).toEqual(all)
    expectSoon(withdrawals, 'a Node is deleted')
  })

  it('withdraws the routes of a pod within a second of its deletion', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'local')
    const names = Array.from({ length: tries }, (_, index) => `pod-${index}`)
    for (const [index, name] of names.entries()) await node.createPod(name, 'node-1', `10.16.0.${index + 1}`)
    node.start('--neighbor-ipv6-address=')
    const all = names.map((_, index): [string, string] => [`10.16.0.${index + 1}/32`, own.ipv4])
    await expect.poll(told).toEqual(Object.fromEntries(all))
    const withdrawals: Withdrawal[] = []
    for (const [index, name] of names.entries()) {
      const left = Object.fromEntries(all.slice(index + 1))
      withdrawals.push(await withdrawalBy(() => node.removePod(name), told, left))
    }
    expectSoon(withdrawals, 'a pod is deleted')
  })

  it('tells communities, and a Subnet in the place of its pods as long as all of them are here', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'local')
    await node.createPod('here', 'node-1', '10.16.0.5')
    node.start('--neighbor-ipv6-address=', '--communities=65000:7', '--aggregate')
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    expect(node.peer.routes('ipv4').get('10.16.0.0/16')?.communities).toEqual([65_000 * 65_536 + 7])
    await node.createPod('there', 'node-2', '10.16.0.6')
    await expect.poll(told).toEqual({ '10.16.0.5/32': own.ipv4 })
  })

  it('speaks from addresses that are allowed, and says what to do about others; the other session goes on', async () => {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    node.start('--allowed-source-addresses=192.0.2.99')
    await expect.poll(told).toEqual({ 'fd00:10:16::/112': own.ipv6 })
    await expect
      .poll(() => node.log.lines)
      .toContainEqual(expect.objectContaining({ level: 'warn', message: 'BGP session did not come about' }))
    await expect
      .poll(() => node.registry.metrics())
      .toContain(`kube_ovn_speaker_bgp_peer_up{node="node-1",peer="${router.ipv6}",peer_asn="65001"} 1`)
    const metrics = await node.registry.metrics()
    expect(metrics).toContain(
      `kube_ovn_speaker_bgp_peer_up{node="node-1",peer="${router.ipv4}",peer_asn="65001"} 0`,
    )
    // Both may have dialled at once: then there were two connections, one of which is left.
    expect(metrics).toMatch(
      new RegExp(
        `^kube_ovn_speaker_bgp_peer_sent_messages\\{node="node-1",peer="${router.ipv6}",type="open"\\} [12]$`,
        'm',
      ),
    )
    expect(metrics).toContain(
      `kube_ovn_speaker_routes_advertised{node="node-1",peer="${router.ipv6}",peer_asn="65001"} 1`,
    )
  })

  async function peers(): Promise<Readonly<Record<string, BgpPeer>>> {
    const { items } = await node.api.client.list(bgpPeerResource)
    return Object.fromEntries(items.map((object) => [object.metadata.name, object]))
  }

  async function states(): Promise<Readonly<Record<string, string | undefined>>> {
    return Object.fromEntries(
      Object.entries(await peers()).map(([name, { status }]) => [name, status?.state]),
    )
  }

  it('says of each session how it is doing, in an object that goes with its Node', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    const stop = node.start('--graceful-restart')
    await expect.poll(states).toEqual({ [named]: 'Established', [namedV6]: 'Established' })
    const { metadata: home } = (await node.api.client.get(nodes, { name: 'node-1' })) ?? {}
    const before = await peers()
    expect(before[named]).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name: 'node-1', uid: home?.uid }] },
      spec: { node: 'node-1', neighbor: router.ipv4 },
      status: {
        ...{ neighborAs: 65_001, neighborId: router.ipv4, localAddress: own.ipv4, holdTimeSeconds: 60 },
        capabilities: expect.arrayContaining(['ipv4-unicast', 'graceful-restart']),
        prefixes: expect.objectContaining({ wanted: 1, advertised: 1, untellable: 0 }),
        conditions: [expect.objectContaining({ type: 'Established', status: 'True' })],
      },
    })
    // Each is made once, and told of before there is a session, for each try that fails, and when there is one at last.
    const tries = node.log.lines.filter(({ level }) => level === 'warn').length
    const written = (await node.api.writes()).map(({ verb, resource }) => `${verb} ${resource}`)
    expect(written.filter((write) => write === 'create bgppeers')).toHaveLength(2)
    expect(written.length).toBeLessThanOrEqual(2 * 3 + tries)

    // Somebody goes on with the sessions.
    stop.abort()
    await node.running[0]?.ended
    await node.api.forgetWrites()
    expect(await states()).toEqual({ [named]: 'Established', [namedV6]: 'Established' })
    node.start('--neighbor-ipv6-address=')
    await expect.poll(states).toEqual({ [named]: 'Established' })
    // The router has kept the route, and the object the state: only the log tells that there is a session again.
    const established = (): boolean =>
      node.log.lines.some(({ message }) => message === 'BGP session was established')
    await expect.poll(established).toBe(true)
    expect((await node.api.client.get(bgpPeerResource, { name: named }))?.metadata.uid).toBe(
      before[named]?.metadata.uid,
    )
    const rewritten = (await node.api.writes()).map(({ verb, resource }) => `${verb} ${resource}`)
    expect(rewritten.filter((write) => write !== 'patch bgppeers/status')).toEqual(['delete bgppeers'])

    await node.stop()
    expect((await peers())[named]?.status).toMatchObject({
      ...{ state: 'Idle', error: 'the speaker has ended' },
      lastEnd: { by: 'local', errorCode: 6, errorSubcode: 2 },
      conditions: [{ type: 'Established', status: 'False', reason: 'SpeakerStopped' }],
    })
  })

  it('says why there is no session', async () => {
    node.start('--neighbor-as=65009', '--neighbor-ipv6-address=')
    const reason = 'OPEN message error: bad peer AS'
    await expect
      .poll(async () => (await peers())[named]?.status)
      .toMatchObject({
        ...{ state: 'Idle', error: reason },
        lastEnd: { by: 'local', errorCode: 2, errorSubcode: 2, reason },
        conditions: [
          {
            ...{ status: 'False', reason: 'NotificationSent' },
            message: `${reason} (neighbor-as is 65009: the router says that it is of AS 65001: write that, or correct the router)`,
          },
        ],
      })
  })

  it('contradicts once who takes it for dead, and leaves what others alone say', async () => {
    node.start('--neighbor-ipv6-address=')
    await expect.poll(states).toEqual({ [named]: 'Established' })
    const lastSilence = '2026-01-01T12:00:00Z'
    const conditions = [
      {
        ...{ type: 'Established', status: 'Unknown', reason: 'NodeSilent' },
        // By a clock that is ahead.
        lastTransitionTime: '2999-01-01T00:00:00Z',
      },
    ]
    await node.api.forgetWrites()
    await node.api.client.patch(
      ...([bgpPeerResource, { name: named }, 'application/merge-patch+json'] as const),
      ...([{ status: { state: 'Unknown', lastSilence, conditions } }, { subresource: 'status' }] as const),
    )
    await expect
      .poll(async () => (await peers())[named]?.status)
      .toMatchObject({
        ...{ state: 'Established', lastSilence },
        conditions: [{ status: 'True', reason: 'SessionEstablished' }],
      })
    const written = (await node.api.writes()).map(({ verb, resource }) => `${verb} ${resource}`)
    expect(written).toEqual(['patch bgppeers/status'])
  })

  it('goes on with all sessions where two routers have one identifier, and with others where a router has its own', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    const further = (['198.51.100', '203.0.113'] as const).map((link, index) => {
      const namespace = node.network.namespace(`router-${index}`)
      node.network.connect(
        { namespace: node.here, name: `eth${index + 1}`, addresses: [`${link}.1/24`] },
        { namespace, name: 'eth0', addresses: [`${link}.2/24`] },
      )
      const neighbors = [
        { ...{ address: `${link}.1`, as: 65_000, isPassive: true }, families: ['ipv4'] as const },
      ]
      return { namespace, neighbors, address: `${link}.2` }
    })
    const [twin, namesake] = further
    if (twin === undefined || namesake === undefined) expect.unreachable('there are two')
    await using second = new Gobgp(twin.namespace, {
      ...{ as: 65_001, routerId: router.ipv4, neighbors: twin.neighbors },
    })
    await using third = new Gobgp(namesake.namespace, {
      ...{ as: 65_000, routerId: own.ipv4, neighbors: namesake.neighbors },
    })
    const path = `/tmp/speaker-neighbors-${process.pid}.json`
    writeFileSync(
      path,
      JSON.stringify([{ address: twin.address }, { address: namesake.address, as: 65_000 }]),
    )
    try {
      node.start('--neighbor-ipv6-address=', `--neighbors-file=${path}`)
    } finally {
      rmSync(path)
    }
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    await expect.poll(() => second.routes('ipv4').get('10.16.0.0/16')?.nextHop).toBe('198.51.100.1')
    const said = (): readonly unknown[] =>
      node.log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)
    for (const peer of [router.ipv4, twin.address])
      await expect
        .poll(said)
        .toContainEqual(expect.objectContaining({ peer, field: 'router-id', value: router.ipv4 }))
    await expect
      .poll(said)
      .toContainEqual(
        expect.objectContaining({ peer: namesake.address, field: 'router-id', value: own.ipv4 }),
      )
    const messages = async (): Promise<readonly (string | undefined)[]> =>
      Object.values(await peers()).map(({ status }) => status?.conditions?.[0]?.message)
    await expect
      .poll(messages)
      .toEqual([
        `routes are told (router-id is ${router.ipv4}: ${twin.address} has it as well: give each router its own, unless they are one)`,
        `routes are told (router-id is ${router.ipv4}: ${router.ipv4} has it as well: give each router its own, unless they are one)`,
        expect.stringMatching(/bad BGP identifier \(router-id is 192\.0\.2\.1: /),
      ])
    expect(third.routes('ipv4').size).toBe(0)
    expect(told()).toEqual({ '10.16.0.0/16': own.ipv4 })
  })

  it('goes on with its sessions when its token is of no node, and says so once', async () => {
    await untilHeld(await node.api.openClient('homeless', account))
    node.kubeconfig = await node.api.accountKubeconfig(account)
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    node.start('--neighbor-ipv6-address=')
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    const message = 'status of BGP sessions was not written'
    const said = (): number => node.log.lines.filter((line) => line.message === message).length
    await expect.poll(said).toBe(1)
    expect(await peers()).toEqual({})
  })

  function peerOf(name: string, node: string): BgpPeer {
    return { metadata: { name }, spec: { node, neighbor: router.ipv4 } }
  }

  /** The API server goes by a policy a moment after it was told. */
  async function untilHeld(client: KubeClient): Promise<void> {
    await vi.waitUntil(
      async () => {
        try {
          await client.create(bgpPeerResource, peerOf('node-9.192-0-2-2', 'node-9'), { dryRun: true })
          return false
        } catch (error) {
          if (error instanceof KubeDeniedError) return true
          throw error
        }
      },
      { timeout: 60_000 },
    )
  }

  it('has a token that is good for objects of its own node alone', async () => {
    const speaker = await node.api.openClient('speaker', account, 'speaker-1')
    await untilHeld(speaker)
    const others = peerOf('node-2.192-0-2-2', 'node-2')
    await node.api.client.create(bgpPeerResource, others)
    await speaker.create(bgpPeerResource, peerOf(named, 'node-1'))
    const say = (name: string): Promise<BgpPeer> =>
      speaker.patch(
        bgpPeerResource,
        { name },
        'application/merge-patch+json',
        { status: { state: 'Idle' } },
        { subresource: 'status' },
      )
    await say(named)
    await speaker.remove(bgpPeerResource, { name: named })
    const refusal = {
      details: { answer: expect.stringContaining('the speaker of node node-1 may not write BgpPeer') },
    }
    await expect(say(others.metadata.name)).rejects.toMatchObject(refusal)
    await expect(speaker.remove(bgpPeerResource, { name: others.metadata.name })).rejects.toMatchObject(
      refusal,
    )
    // The name of another node's object is not its own, whatever node it says.
    for (const name of ['node-3.192-0-2-2', 'node-1.example.com.192-0-2-2', 'node-1'])
      await expect(speaker.create(bgpPeerResource, peerOf(name, 'node-1'))).rejects.toThrow(KubeDeniedError)
  })

  async function createEip(
    name: string,
    gateway: string,
    addresses: NonNullable<IptablesEip['spec']>,
  ): Promise<void> {
    const labels = { 'ovn.kubernetes.io/vpc-nat-gw-name': gateway }
    const metadata = { name, labels, annotations: { [bgp]: 'true' } }
    await node.api.client.create(iptablesEipResource, { metadata, spec: addresses })
    await sayReady(name, true)
  }

  function sayReady(name: string, ready: boolean): Promise<IptablesEip> {
    return node.api.client.patch(
      ...([iptablesEipResource, { name }, 'application/merge-patch+json', { status: { ready } }] as const),
      { subresource: 'status' },
    )
  }

  it('announces the addresses of its NAT gateway, writes nothing, and has the rights of gateways', async () => {
    node.kubeconfig = await node.api.accountKubeconfig('kube-system/vpc-nat-gw')
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    await createEip('one', 'gw', { v4ip: '198.51.100.1', v6ip: '2001:db8:1::1' })
    await createEip('two', 'gw', { v4ip: '198.51.100.2' })
    await createEip('of-another', 'other', { v4ip: '198.51.100.3' })
    await node.api.forgetWrites()
    node.startWith({ GATEWAY_NAME: 'gw' }, ['--nat-gw-mode'])
    const one = { '198.51.100.1/32': own.ipv4, '2001:db8:1::1/128': own.ipv6 }
    await expect.poll(told).toEqual({ ...one, '198.51.100.2/32': own.ipv4 })
    expect(await node.api.writes()).toEqual([])

    await sayReady('two', false)
    await expect.poll(told).toEqual(one)
    await sayReady('two', true)
    await node.api.client.remove(iptablesEipResource, { name: 'one' })
    await expect.poll(told).toEqual({ '198.51.100.2/32': own.ipv4 })
    await node.api.client.patch(iptablesEipResource, { name: 'two' }, 'application/merge-patch+json', {
      metadata: { annotations: { [bgp]: 'local' } },
    })
    await expect.poll(told).toEqual({})
    expect(node.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ object: 'IptablesEIP/two', field: bgp, value: 'local' }),
      }),
    )
    expect(await node.registry.metrics()).toContain(
      `kube_ovn_speaker_bgp_peer_up{node="",peer="${router.ipv4}",peer_asn="65001"} 1`,
    )
  })
})

/** One try alone may fall into a moment in which the machine does something else. */
const tries = 5

interface Withdrawal {
  /** From the request to the API server until a look at the router showed nothing more, so it is longer than what is promised. */
  readonly ms: number
  /** Of the looks that it took, the longest: how fast the machine is at that moment. */
  readonly lookMs: number
}

async function withdrawalBy<T>(
  action: () => Promise<unknown>,
  look: () => T,
  expected: T,
): Promise<Withdrawal> {
  const startedMs = performance.now()
  let lookMs = 0
  await action()
  await expect
    .poll(
      () => {
        const beganMs = performance.now()
        const found = look()
        lookMs = Math.max(lookMs, performance.now() - beganMs)
        return found
      },
      { interval: 10 },
    )
    .toEqual(expected)
  return { ms: performance.now() - startedMs, lookMs }
}

/** On a machine that does nothing else a look takes some 60 ms, and a withdrawal hardly longer. */
const looksToSecond = 5

/** Expects a second, beside the look that shows it, and more only where the machine takes longer for everything. */
function expectSoon(withdrawals: readonly Withdrawal[], what: string): void {
  const shown = withdrawals.map(({ ms, lookMs }) => `${Math.round(ms)} (looks of ${Math.round(lookMs)})`)
  console.log(`withdrawn after ${what}: ${shown.join(', ')} ms`)
  const late = withdrawals.map(({ ms, lookMs }) => (ms - lookMs) / Math.max(1_000, looksToSecond * lookMs))
  expect(late.toSorted((a, b) => a - b)[Math.floor(tries / 2)]).toBeLessThanOrEqual(1)
}
