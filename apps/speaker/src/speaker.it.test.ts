import { writeFileSync } from 'node:fs'
import { KubeDeniedError, nodes, pods, services, type KubeClient, type Pod } from '@kube-ovn/kube'
import { bgpPeerResource, subnetResource, type BgpPeer } from '@kube-ovn/kube-api'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { Gobgp, missingForGobgp } from '@kube-ovn/testing-bgp'
import { pod } from '@kube-ovn/testing-builders'
import { chartCrds, startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { openTestNetwork, type TestNamespace, type TestNetwork } from '@kube-ovn/testing-net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { command, type SpeakerConfig } from './config.ts'
import { runSpeaker } from './speaker.ts'

const missing = missingForGobgp()
const own = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const
const router = { ipv4: '192.0.2.2', ipv6: '2001:db8::2' } as const
const bgp = 'ovn.kubernetes.io/bgp'
const account = 'kube-system/kube-ovn-speaker'
/** The objects of the sessions of node-1. */
const [named, namedV6] = ['node-1.192-0-2-2', 'node-1.2001-db8-0-0-0-0-0-2'] as const

describe.skipIf(missing)(`a speaker${missing === undefined ? '' : ` (${missing})`}`, () => {
  let api: KubeApi
  /** With the rights that the chart gives speakers, of a speaker on node-1. */
  let kubeconfig: string
  let network: TestNetwork
  let here: TestNamespace
  let peer: Gobgp
  let running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = []
  let log: RecordingLogger
  let registry: Registry

  beforeAll(async () => {
    api = await startKubeApi({ crds: [chartCrds], accounts: { bgpSpeaker: { enabled: true } } })
  })
  beforeEach(async () => {
    await api.client.create(nodes, { metadata: { name: 'node-1' } })
    const home = pod({ name: 'speaker-1', namespace: 'kube-system', node: 'node-1' })
    await api.client.create(pods, { ...home, spec: { ...home.spec, serviceAccountName: 'kube-ovn-speaker' } })
    kubeconfig = await api.accountKubeconfig(account, 'speaker-1')
    network = openTestNetwork()
    here = network.namespace('node')
    const there = network.namespace('router')
    network.connect(
      { namespace: here, name: 'eth0', addresses: [`${own.ipv4}/24`, `${own.ipv6}/64`] },
      { namespace: there, name: 'eth0', addresses: [`${router.ipv4}/24`, `${router.ipv6}/64`] },
    )
    peer = new Gobgp(there, {
      ...{ as: 65_001, routerId: router.ipv4 },
      neighbors: [own.ipv4, own.ipv6].map((address) => ({
        ...{ address, as: 65_000, isPassive: true, gracefulRestart: true },
        families: address === own.ipv4 ? (['ipv4'] as const) : (['ipv6', 'ipv4'] as const),
      })),
    })
  })
  afterEach(async () => {
    for (const { stop } of running) stop.abort()
    await Promise.all(running.map(({ ended }) => ended))
    running = []
    await peer[Symbol.asyncDispose]()
    network[Symbol.dispose]()
    await api.reset()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  function configOf(...flags: readonly string[]): SpeakerConfig {
    const common = [
      ...[`--kubeconfig=${kubeconfig}`, '--cluster-as=65000', '--neighbor-as=65001', '--pprof-port=0'],
      ...[`--neighbor-address=${router.ipv4}`, `--neighbor-ipv6-address=${router.ipv6}`],
    ]
    const parsed = readConfig(command, [...common, ...flags], { NODE_NAME: 'node-1', POD_IPS: own.ipv4 })
    if (parsed.kind === 'help') throw new Error('no configuration')
    return parsed.config
  }

  function start(...flags: readonly string[]): AbortController {
    log = recordingLogger()
    registry = new Registry()
    const stop = new AbortController()
    running.push({ stop, ended: runSpeaker(configOf(...flags), log, registry, stop.signal, here.path) })
    return stop
  }

  async function createSubnet(name: string, cidrBlock: string, policy?: string): Promise<void> {
    const annotations = policy === undefined ? {} : { [bgp]: policy }
    await api.client.create(subnetResource, { metadata: { name, annotations }, spec: { cidrBlock } })
    const status = { inEffect: { cidrBlock } }
    await api.client.patch(
      subnetResource,
      { name },
      'application/merge-patch+json',
      { status },
      { subresource: 'status' },
    )
  }

  async function createPod(
    name: string,
    nodeName: string,
    addresses: string,
    policy?: string,
  ): Promise<void> {
    const annotations = {
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': addresses,
      'ovn.kubernetes.io/mac_address': '00:00:00:5e:00:01',
      'ovn.kubernetes.io/logical_switch': 'red',
      ...(policy === undefined ? {} : { [bgp]: policy }),
    }
    const spec: Pod['spec'] = { nodeName, containers: [{ name: 'c', image: 'c' }] }
    await api.client.create(pods, { metadata: { namespace: 'default', name, annotations }, spec })
  }

  function told(): Readonly<Record<string, string>> {
    const routes = [...peer.routes('ipv4').values(), ...peer.routes('ipv6').values()]
    return Object.fromEntries(routes.map(({ prefix, nextHop }) => [prefix, nextHop]))
  }

  it('announces what annotations ask for, of both families, and follows changes', async () => {
    await createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'local')
    await createPod('here', 'node-1', '10.16.0.5,fd00:10:16::5')
    await createPod('there', 'node-2', '10.16.0.6')
    const metadata = { namespace: 'default', name: 'web', annotations: { [bgp]: 'true' } }
    const { spec } = await api.client.create(services, { metadata, spec: { ports: [{ port: 80 }] } })
    start('--announce-cluster-ip')
    const ofService = { [`${spec?.clusterIP ?? ''}/32`]: own.ipv4 }
    const ofPod = { '10.16.0.5/32': own.ipv4, 'fd00:10:16::5/128': own.ipv6 }
    await expect.poll(told).toEqual({ ...ofService, ...ofPod })

    const changedMs = performance.now()
    await api.client.remove(pods, { namespace: 'default', name: 'here' }, { gracePeriodSeconds: 0 })
    await expect.poll(told, { interval: 10 }).toEqual(ofService)
    console.log(`withdrawn ${Math.round(performance.now() - changedMs)} ms after its pod was deleted`)

    const annotate = (policy: string): Promise<unknown> =>
      api.client.patch(subnetResource, { name: 'red' }, 'application/merge-patch+json', {
        metadata: { annotations: { [bgp]: policy } },
      })
    await annotate('cluster')
    await expect.poll(told).toEqual({
      ...ofService,
      ...{ '10.16.0.0/16': own.ipv4, 'fd00:10:16::/112': own.ipv6, '10.16.0.6/32': own.ipv4 },
    })
    await annotate('elsewhere')
    await expect.poll(told).toEqual(ofService)
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ object: 'Subnet/red', field: bgp, value: 'elsewhere' }),
      }),
    )
    const written = (await api.writes()).map(({ resource }) => resource)
    expect(written.filter((resource) => !resource.startsWith('bgppeers'))).toEqual([])
  })

  it('has next hops that follow the routes of the node', async () => {
    await createSubnet('red', '10.16.0.0/16', 'true')
    here.run('ip', 'address', 'add', '192.0.2.8/24', 'dev', 'eth0')
    here.run('ip', 'route', 'add', `${router.ipv4}/32`, 'dev', 'eth0', 'src', '192.0.2.8', 'table', '100')
    start()
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    here.run('ip', 'address', 'add', '192.0.2.7/24', 'dev', 'eth0')
    here.run('ip', 'route', 'replace', `${router.ipv4}/32`, 'dev', 'eth0', 'src', '192.0.2.7')
    await expect.poll(told).toEqual({ '10.16.0.0/16': '192.0.2.7' })
    // A rule alone leads another way.
    here.run('ip', 'rule', 'add', 'to', router.ipv4, 'table', '100')
    await expect.poll(told).toEqual({ '10.16.0.0/16': '192.0.2.8' })
  })

  it('announces IPv4 over IPv6, and node addresses in the place of its own', async () => {
    await createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    start('--extended-nexthop', '--neighbor-address=', '--node-ips=192.0.2.77')
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv6, 'fd00:10:16::/112': own.ipv6 })
    for (const { stop } of running) stop.abort()
    await expect.poll(told).toEqual({})
    start('--neighbor-ipv6-address=', '--node-ips=192.0.2.77')
    await expect.poll(told).toEqual({ '10.16.0.0/16': '192.0.2.77' })
  })

  it('keeps its routes over a restart, and withdraws what is gone after it', async () => {
    await createSubnet('red', '10.16.0.0/16', 'local')
    await createPod('a', 'node-1', '10.16.0.5')
    await createPod('b', 'node-1', '10.16.0.6')
    const stop = start('--graceful-restart', '--neighbor-ipv6-address=')
    await expect.poll(told).toEqual({ '10.16.0.5/32': own.ipv4, '10.16.0.6/32': own.ipv4 })
    stop.abort()
    await running[0]?.ended
    await expect.poll(() => peer.routes('ipv4').get('10.16.0.5/32')?.isStale).toBe(true)
    await api.client.remove(pods, { namespace: 'default', name: 'b' }, { gracePeriodSeconds: 0 })
    start('--graceful-restart', '--neighbor-ipv6-address=')
    await expect.poll(told).toEqual({ '10.16.0.5/32': own.ipv4 })
    expect(peer.routes('ipv4').get('10.16.0.5/32')?.isStale).toBe(false)
  })

  it('announces nothing once its Node is gone, and again when it is back', async () => {
    await createSubnet('red', '10.16.0.0/16', 'true')
    await createPod('here', 'node-1', '10.16.0.5', 'local')
    start('--neighbor-ipv6-address=')
    const all = { '10.16.0.0/16': own.ipv4, '10.16.0.5/32': own.ipv4 }
    await expect.poll(told).toEqual(all)
    await api.client.remove(nodes, { name: 'node-1' })
    await expect.poll(told).toEqual({})
    await api.client.create(nodes, { metadata: { name: 'node-1' } })
    await expect.poll(told).toEqual(all)
  })

  it('tells communities, and a Subnet in the place of its pods as long as all of them are here', async () => {
    await createSubnet('red', '10.16.0.0/16', 'local')
    await createPod('here', 'node-1', '10.16.0.5')
    start('--neighbor-ipv6-address=', '--communities=65000:7', '--aggregate')
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    expect(peer.routes('ipv4').get('10.16.0.0/16')?.communities).toEqual([65_000 * 65_536 + 7])
    await createPod('there', 'node-2', '10.16.0.6')
    await expect.poll(told).toEqual({ '10.16.0.5/32': own.ipv4 })
  })

  it('speaks from addresses that are allowed, and says what to do about others; the other session goes on', async () => {
    await createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    start('--allowed-source-addresses=192.0.2.99')
    await expect.poll(told).toEqual({ 'fd00:10:16::/112': own.ipv6 })
    await expect
      .poll(() => log.lines)
      .toContainEqual(expect.objectContaining({ level: 'warn', message: 'BGP session did not come about' }))
    await expect
      .poll(() => registry.metrics())
      .toContain(`kube_ovn_speaker_bgp_peer_up{node="node-1",peer="${router.ipv6}",peer_asn="65001"} 1`)
    const metrics = await registry.metrics()
    expect(metrics).toContain(
      `kube_ovn_speaker_bgp_peer_up{node="node-1",peer="${router.ipv4}",peer_asn="65001"} 0`,
    )
    expect(metrics).toContain(
      `kube_ovn_speaker_bgp_peer_sent_messages{node="node-1",peer="${router.ipv6}",type="open"} 1`,
    )
    expect(metrics).toContain(
      `kube_ovn_speaker_routes_advertised{node="node-1",peer="${router.ipv6}",peer_asn="65001"} 1`,
    )
  })

  async function peers(): Promise<Readonly<Record<string, BgpPeer>>> {
    const { items } = await api.client.list(bgpPeerResource)
    return Object.fromEntries(items.map((object) => [object.metadata.name, object]))
  }

  async function states(): Promise<Readonly<Record<string, string | undefined>>> {
    return Object.fromEntries(
      Object.entries(await peers()).map(([name, { status }]) => [name, status?.state]),
    )
  }

  it('says of each session how it is doing, in an object that goes with its Node', async () => {
    await createSubnet('red', '10.16.0.0/16', 'true')
    const stop = start('--graceful-restart')
    await expect.poll(states).toEqual({ [named]: 'Established', [namedV6]: 'Established' })
    const { metadata: node } = (await api.client.get(nodes, { name: 'node-1' })) ?? {}
    const before = await peers()
    expect(before[named]).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name: 'node-1', uid: node?.uid }] },
      spec: { node: 'node-1', neighbor: router.ipv4 },
      status: {
        ...{ neighborAs: 65_001, neighborId: router.ipv4, localAddress: own.ipv4, holdTimeSeconds: 9 },
        capabilities: expect.arrayContaining(['ipv4-unicast', 'graceful-restart']),
        prefixes: expect.objectContaining({ wanted: 1, advertised: 1, untellable: 0 }),
        conditions: [expect.objectContaining({ type: 'Established', status: 'True' })],
      },
    })
    // Each is made once, and told of before there is a session, for each try that fails, and when there is one at last.
    const tries = log.lines.filter(({ level }) => level === 'warn').length
    const written = (await api.writes()).map(({ verb, resource }) => `${verb} ${resource}`)
    expect(written.filter((write) => write === 'create bgppeers')).toHaveLength(2)
    expect(written.length).toBeLessThanOrEqual(2 * 3 + tries)

    // Somebody goes on with the sessions.
    stop.abort()
    await running[0]?.ended
    await api.forgetWrites()
    expect(await states()).toEqual({ [named]: 'Established', [namedV6]: 'Established' })
    start('--neighbor-ipv6-address=')
    await expect.poll(states).toEqual({ [named]: 'Established' })
    // The router has kept the route, and the object the state: only the log tells that there is a session again.
    const established = (): boolean =>
      log.lines.some(({ message }) => message === 'BGP session was established')
    await expect.poll(established).toBe(true)
    expect((await api.client.get(bgpPeerResource, { name: named }))?.metadata.uid).toBe(
      before[named]?.metadata.uid,
    )
    const rewritten = (await api.writes()).map(({ verb, resource }) => `${verb} ${resource}`)
    expect(rewritten.filter((write) => write !== 'patch bgppeers/status')).toEqual(['delete bgppeers'])

    for (const { stop: end } of running) end.abort()
    await Promise.all(running.map(({ ended }) => ended))
    expect((await peers())[named]?.status).toMatchObject({
      ...{ state: 'Idle', error: 'the speaker has ended' },
      lastEnd: { by: 'local', errorCode: 6, errorSubcode: 2 },
      conditions: [{ type: 'Established', status: 'False', reason: 'SpeakerStopped' }],
    })
  })

  it('says why there is no session', async () => {
    start('--neighbor-as=65009', '--neighbor-ipv6-address=')
    const reason = 'OPEN message error: bad peer AS'
    await expect
      .poll(async () => (await peers())[named]?.status)
      .toMatchObject({
        ...{ state: 'Idle', error: reason },
        lastEnd: { by: 'local', errorCode: 2, errorSubcode: 2, reason },
        conditions: [{ status: 'False', reason: 'NotificationSent', message: reason }],
      })
  })

  it('goes on with its sessions when its token is of no node, and says so once', async () => {
    await untilHeld(await api.openClient('homeless', account))
    kubeconfig = await api.accountKubeconfig(account)
    await createSubnet('red', '10.16.0.0/16', 'true')
    start('--neighbor-ipv6-address=')
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    const message = 'status of BGP sessions was not written'
    const said = (): number => log.lines.filter((line) => line.message === message).length
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
    const speaker = await api.openClient('speaker', account, 'speaker-1')
    await untilHeld(speaker)
    const others = peerOf('node-2.192-0-2-2', 'node-2')
    await api.client.create(bgpPeerResource, others)
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

  it('never tells a password', async () => {
    const path = `/tmp/speaker-password-${process.pid}`
    writeFileSync(path, 'topsecret')
    start('--auth-password=topsecret')
    await expect.poll(() => log.lines.length).toBeGreaterThan(1)
    start(`--auth-password-file=${path}`)
    await expect.poll(() => log.lines.length).toBeGreaterThan(0)
    expect(JSON.stringify(log.lines)).not.toContain('topsecret')
  })
})
