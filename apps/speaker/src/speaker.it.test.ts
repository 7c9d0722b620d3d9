import { writeFileSync } from 'node:fs'
import { nodes, pods, services, type Pod } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { Gobgp, missingForGobgp } from '@kube-ovn/testing-bgp'
import { chartCrds, startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { openTestNetwork, type TestNamespace, type TestNetwork } from '@kube-ovn/testing-net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { command, type SpeakerConfig } from './config.ts'
import { runSpeaker } from './speaker.ts'

const missing = missingForGobgp()
const own = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const
const router = { ipv4: '192.0.2.2', ipv6: '2001:db8::2' } as const
const bgp = 'ovn.kubernetes.io/bgp'

describe.skipIf(missing)(`a speaker${missing === undefined ? '' : ` (${missing})`}`, () => {
  let api: KubeApi
  /** With the rights that the chart gives speakers. */
  let kubeconfig: string
  let network: TestNetwork
  let here: TestNamespace
  let peer: Gobgp
  let running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = []
  let log: RecordingLogger
  let registry: Registry

  beforeAll(async () => {
    api = await startKubeApi({ crds: [chartCrds], accounts: { bgpSpeaker: { enabled: true } } })
    kubeconfig = await api.accountKubeconfig('kube-system/kube-ovn-speaker')
  })
  beforeEach(async () => {
    await api.client.create(nodes, { metadata: { name: 'node-1' } })
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
    expect(await api.writes()).toEqual([])
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
