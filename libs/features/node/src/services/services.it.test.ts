import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Subnet } from '@kube-ovn/kube-api'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { countWrites } from '@kube-ovn/netfilter/testing/count-writes'
import { inNamespace } from '@kube-ovn/netlink'
import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOf, subnetOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

const pods = ['10.16.0.2', '10.16.0.3', 'fd00:10:16::2', 'fd00:10:16::3']
const outsideIp = '198.51.100.2'

/** Answers over TCP and UDP at each address, with that and who is seen to ask. */
const server = `
const net = require('net'), dgram = require('dgram'), ends = process.argv[1].split(',')
let open = 2 * ends.length
const ready = () => { if (--open === 0) console.log('ready') }
for (const host of ends) {
  net.createServer((s) => { s.on('error', () => {}); s.end(host + ' ' + s.remoteAddress) }).listen(8080, host, ready)
  const udp = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4')
  udp.on('message', (_, from) => udp.send(host + ' ' + from.address, from.port, from.address))
  udp.bind(8080, host, ready)
}`

/** Asks so often over TCP, and prints the answers, or why there are none. */
const client = `
const net = require('net'), [host, port, count, waitMs] = process.argv.slice(1)
const ask = () => new Promise((done) => {
  const s = net.connect(Number(port), host), got = []
  const end = (text) => { s.destroy(); done(text) }
  s.setTimeout(Number(waitMs), () => end('timeout')).on('data', (d) => got.push(d)).on('end', () => end(got.join('')))
  s.on('error', (e) => end(e.code))
})
;(async () => { for (let i = 0; i < Number(count); i++) console.log(await ask()) })()`

/** Goes on sending datagrams from one port, and prints the answers. */
const sender = `
const dgram = require('dgram'), [host, port] = process.argv.slice(1)
const s = dgram.createSocket('udp4')
s.on('message', (m) => console.log(String(m))).on('error', () => {})
s.connect(Number(port), host, () => setInterval(() => s.send('?', () => {}), 100))`

describe.skipIf(missing)(`a node without kube-proxy${missing === undefined ? '' : ` (${missing})`}`, () => {
  let network: TestNetwork
  let node: TestNode
  let outside: TestNamespace
  let backend: TestNamespace

  beforeEach(async () => {
    network = openTestNetwork()
    node = await TestNode.start()
    node.servesServices = true
    outside = network.namespace('outside')
    backend = network.namespace('pods')
    network.connect(
      { namespace: node.host, name: 'out0', addresses: ['198.51.100.1/24', '2001:db8:51::1/64'] },
      { namespace: outside, name: 'eth0', addresses: [`${outsideIp}/24`, '2001:db8:51::2/64'] },
    )
    network.connect(
      { namespace: node.host, name: 'ovn0', addresses: ['10.16.0.1/16', 'fd00:10:16::1/64'] },
      {
        namespace: backend,
        name: 'eth0',
        addresses: pods.map((ip) => (ip.includes(':') ? `${ip}/64` : `${ip}/16`)),
      },
    )
    for (const setting of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding'])
      node.host.run('sh', '-c', `echo 1 > /proc/sys/net/${setting}`)
    for (const [from, via4, via6] of [
      [node.host, outsideIp, '2001:db8:51::2'],
      [outside, '198.51.100.1', '2001:db8:51::1'],
      [backend, '10.16.0.1', 'fd00:10:16::1'],
    ] as const) {
      from.run('ip', 'route', 'add', 'default', 'via', via4)
      from.run('ip', '-6', 'route', 'add', 'default', 'via', via6)
    }
    await ready(backend.start(process.execPath, '-e', server, pods.join()))
    node.subnets.put('green', subnetOf('green', { cidrBlock: 'fd00:10:16::/64', natOutgoing: true }))
    node.serviceCidrs.put('kubernetes', {
      metadata: { name: 'kubernetes' },
      spec: { cidrs: ['10.96.0.0/12', 'fd00:10:96::/112'] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })
  })
  afterEach(async () => {
    await node?.[Symbol.asyncDispose]()
    network?.[Symbol.dispose]()
  })

  function put(name: string, spec: Service['spec'] & object, status: Service['status'] = {}): void {
    const port = { name: 'http', port: 80, protocol: 'TCP' as const, nodePort: 30_080 }
    node.services.put(`shop/${name}`, {
      metadata: { name, namespace: 'shop' },
      spec: { clusterIPs: ['10.96.0.10', 'fd00:10:96::10'], ports: [port], ...spec },
      status,
    })
  }

  function fill(
    name: string,
    addresses: readonly string[],
    nodeName = 'n1',
    more: Partial<EndpointSlice> = {},
  ): void {
    for (const addressType of ['IPv4', 'IPv6'] as const) {
      const own = addresses.filter((ip) => ip.includes(':') === (addressType === 'IPv6'))
      node.slices.put(`shop/${name}-${addressType}`, {
        metadata: {
          ...{ name: `${name}-${addressType}`, namespace: 'shop' },
          labels: { 'kubernetes.io/service-name': name },
        },
        addressType,
        endpoints: own.map((ip) => ({ addresses: [ip], nodeName })),
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        ...more,
      })
    }
  }

  /** Who answers at once waits for nothing; that nobody does is waited for. */
  function ask(
    from: TestNamespace,
    host: string,
    port: number,
    { count = 1, waitMs = 30_000 } = {},
  ): readonly string[] {
    const words = [host, port, count, waitMs].map(String)
    return from
      .run(process.execPath, '-e', client, ...words)
      .trim()
      .split('\n')
  }

  async function serving(): Promise<TestAgent> {
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    return agent
  }

  it('leads itself, pods and others to backends, in both families, and shows sources as the policy says', async () => {
    put(
      'web',
      { type: 'LoadBalancer', externalIPs: ['203.0.113.7'] },
      {
        loadBalancer: { ingress: [{ ip: '203.0.113.8' }, { ip: '203.0.113.9', ipMode: 'Proxy' }] },
      },
    )
    fill('web', ['10.16.0.2', 'fd00:10:16::2'])
    const agent = await serving()
    // Its way to the cluster address is another one than to the backend.
    expect(ask(node.host, '10.96.0.10', 80)).toEqual(['10.16.0.2 10.16.0.1'])
    expect(ask(node.host, 'fd00:10:96::10', 80)).toEqual(['fd00:10:16::2 fd00:10:16::1'])
    expect(ask(node.host, '192.0.2.10', 30_080)).toEqual(['10.16.0.2 10.16.0.1'])
    // By way of the node, back to itself.
    expect(ask(backend, '10.96.0.10', 80)).toEqual(['10.16.0.2 10.16.0.1'])
    for (const [host, port] of [
      ['192.0.2.10', 30_080],
      ['203.0.113.7', 80],
      ['203.0.113.8', 80],
      ['10.96.0.10', 80],
    ] as const)
      expect([host, ...ask(outside, host, port)]).toEqual([host, '10.16.0.2 10.16.0.1'])
    expect(ask(outside, '2001:db8:51::1', 30_080)).toEqual(['fd00:10:16::2 fd00:10:16::1'])
    put('web', { type: 'NodePort', externalTrafficPolicy: 'Local' })
    expect(await agent.settle()).toEqual([])
    expect(ask(outside, '192.0.2.10', 30_080)).toEqual([`10.16.0.2 ${outsideIp}`])
    expect(ask(outside, '2001:db8:51::1', 30_080)).toEqual(['fd00:10:16::2 2001:db8:51::2'])
    // What its backends send leaves the cluster by another node, and would not come back here.
    const leaves = (egress: NonNullable<Subnet['status']>['egress']) => {
      const blue = subnetOf('blue', { cidrBlock: '10.16.0.0/16', natOutgoing: true })
      node.subnets.put('blue', { ...blue, status: { ...blue.status, egress } })
      return agent.settle()
    }
    expect(await leaves({ gateways: [{ node: 'n1' }, { node: 'n2' }], active: ['n2'] })).toEqual([])
    expect(ask(outside, '192.0.2.10', 30_080)).toEqual(['10.16.0.2 10.16.0.1'])
    expect(ask(outside, '2001:db8:51::1', 30_080)).toEqual(['fd00:10:16::2 2001:db8:51::2'])
    expect(await leaves({ gateways: [{ node: 'n1' }, { node: 'n2' }], active: ['n1'] })).toEqual([])
    expect(ask(outside, '192.0.2.10', 30_080)).toEqual([`10.16.0.2 ${outsideIp}`])
  })

  it('leads who comes by OVN from an underlay to a backend that answers by the node', async () => {
    put('web', {})
    fill('web', ['10.16.0.2'])
    backend.run('ip', 'addr', 'add', '172.19.0.5/32', 'dev', 'eth0')
    node.host.run('ip', 'route', 'add', '172.19.0.0/24', 'dev', 'ovn0')
    backend.run('ip', 'route', 'replace', 'default', 'via', '10.16.0.1', 'src', '172.19.0.5')
    await serving()
    expect(ask(backend, '10.96.0.10', 80, { waitMs: 5000 })).toEqual(['10.16.0.2 10.16.0.1'])
  })

  it('refuses at once where nobody is, and drops what others may have', async () => {
    put('web', { type: 'NodePort' })
    const agent = await serving()
    expect(ask(node.host, '10.96.0.10', 80)).toEqual(['ECONNREFUSED'])
    expect(ask(backend, 'fd00:10:96::10', 80)).toEqual(['ECONNREFUSED'])
    expect(ask(outside, '192.0.2.10', 30_080)).toEqual(['ECONNREFUSED'])
    fill('web', ['10.16.0.2'], 'n2')
    put('web', { type: 'NodePort', externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' })
    expect(await agent.settle()).toEqual([])
    expect(ask(outside, '192.0.2.10', 30_080, { waitMs: 1000 })).toEqual(['timeout'])
    expect(ask(node.host, '10.96.0.10', 80, { waitMs: 1000 })).toEqual(['timeout'])
    // The policy is about who comes from outside.
    expect(ask(node.host, '192.0.2.10', 30_080)[0]).toMatch(/^10\.16\.0\.2 /)
  })

  it('refuses what no Service has at its address, drops what is for none, and forwards neither', async () => {
    put('web', {})
    fill('web', ['10.16.0.2', 'fd00:10:16::2'])
    const agent = await serving()
    // All that is for nobody would go by the default route, to whoever is there.
    for (const ip of ['10.96.0.10', '10.96.0.99']) outside.run('ip', 'address', 'add', ip, 'dev', 'lo')
    for (const ip of ['fd00:10:96::10', 'fd00:10:96::99'])
      outside.run('ip', 'address', 'add', `${ip}/128`, 'dev', 'lo', 'nodad')
    await ready(outside.start(process.execPath, '-e', server, '::'))
    for (const from of [node.host, backend]) {
      for (const ip of ['10.96.0.10', 'fd00:10:96::10'])
        expect([ip, ...ask(from, ip, 8080)]).toEqual([ip, 'ECONNREFUSED'])
      for (const ip of ['10.96.0.99', 'fd00:10:96::99'])
        expect([ip, ...ask(from, ip, 8080, { waitMs: 500 })]).toEqual([ip, 'timeout'])
    }
    // Where nobody but a flag says which prefix it is, others may have addresses in it.
    node.serviceCidrs.put('kubernetes', undefined)
    expect(await agent.settle()).toEqual([])
    expect(ask(node.host, '10.96.0.99', 8080)[0]).toMatch(/^:: /)
    expect(ask(node.host, '10.96.0.10', 8080)).toEqual(['ECONNREFUSED'])
    // Somebody on the node may have it, as a cache of DNS has that of the DNS.
    node.host.run('ip', 'address', 'add', '10.96.0.10', 'dev', 'lo')
    await ready(node.host.start(process.execPath, '-e', server, '10.96.0.10'))
    for (const from of [node.host, backend])
      expect(ask(from, '10.96.0.10', 8080)[0]).toMatch(/^10\.96\.0\.10 /)
  })

  it('spreads connections, and keeps a client at its backend where it is wanted', async () => {
    put('web', {})
    fill('web', pods)
    const agent = await serving()
    const seen = (answers: readonly string[]) => new Set(answers.map((answer) => answer.split(' ')[0])).size
    expect(seen(ask(node.host, '10.96.0.10', 80, { count: 40 }))).toBe(2)
    put('web', { sessionAffinity: 'ClientIP' })
    expect(await agent.settle()).toEqual([])
    for (const ip of ['10.96.0.10', 'fd00:10:96::10'])
      expect(seen(ask(node.host, ip, 80, { count: 20 }))).toBe(1)
  })

  it('lets in whom the Service names, itself as anybody else', async () => {
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.8' }] } }
    const agentOf = async (loadBalancerSourceRanges: readonly string[]): Promise<void> => {
      put('web', { type: 'LoadBalancer', loadBalancerSourceRanges: [...loadBalancerSourceRanges] }, status)
      expect(await agent.settle()).toEqual([])
    }
    const served = ['10.16.0.2 10.16.0.1']
    const answers = (waitMs?: number) =>
      [outside, node.host].map((from) => ask(from, '203.0.113.8', 80, waitMs === undefined ? {} : { waitMs }))
    fill('web', ['10.16.0.2'])
    const agent = await serving()
    // With bits of a host, as they may be written.
    await agentOf(['198.51.100.1/30', 'nonsense'])
    expect(answers()).toEqual([served, served])
    await agentOf(['198.51.100.64/30', 'nonsense'])
    expect(answers(1000)).toEqual([['timeout'], ['timeout']])
    await agentOf(['0.0.0.0/0', '::/0'])
    expect(answers()).toEqual([served, served])
    // Who has announced the address has it on a link, and comes from it.
    node.host.run('ip', 'addr', 'add', '203.0.113.8/32', 'dev', 'out0')
    await agentOf(['192.0.2.10/32'])
    expect(ask(node.host, '203.0.113.8', 80)).toEqual(served)
    await agentOf(['192.0.2.11/32'])
    expect(ask(node.host, '203.0.113.8', 80, { waitMs: 1000 })).toEqual(['timeout'])
    await agent.stop()
    expect(await (await serving()).writes()).toBe(0)
  })

  it('leads to each of many backends, also clients that stay at theirs', async () => {
    const count = 1500
    const addresses = Array.from({ length: count }, (_, at) => `10.16.${8 + (at >> 8)}.${at & 255}`)
    backend.run('ip', 'route', 'add', 'local', '10.16.8.0/21', 'dev', 'lo')
    node.host.run('ip', 'route', 'add', '10.16.8.0/21', 'via', '10.16.0.2')
    const anyAddress = server.replaceAll('8080', '9090').replaceAll("host + ' ' +", "s.localAddress + ' ' +")
    await ready(backend.start(process.execPath, '-e', anyAddress, '0.0.0.0'))
    put('web', {})
    const ports = [{ name: 'http', port: 9090, protocol: 'TCP' as const }]
    fill('web', addresses, 'n1', { ports })
    const agent = await serving()
    const led = () => new Set(ask(node.host, '10.96.0.10', 80, { count: 20 })).size
    expect(led()).toBeGreaterThan(15)
    put('web', { sessionAffinity: 'ClientIP' })
    expect(await agent.settle()).toEqual([])
    expect(led()).toBe(1)
  })

  it('leads who asks an address that two Services name to the older one', async () => {
    const externalIPs = ['203.0.113.9']
    const made = (name: string, clusterIP: string, creationTimestamp: string): void =>
      node.services.put(`shop/${name}`, {
        metadata: { name, namespace: 'shop', creationTimestamp },
        spec: { clusterIPs: [clusterIP], externalIPs, ports: [{ name: 'http', port: 80 }] },
      })
    made('b', '10.96.0.11', '2026-01-01T00:00:00Z')
    made('a', '10.96.0.12', '2026-01-02T00:00:00Z')
    fill('b', ['10.16.0.2'])
    fill('a', ['10.16.0.3'])
    const agent = await serving()
    const led = (): string | undefined => ask(outside, '203.0.113.9', 80)[0]?.split(' ')[0]
    expect(led()).toBe('10.16.0.2')
    node.services.put('shop/b', undefined)
    expect(await agent.settle()).toEqual([])
    expect(led()).toBe('10.16.0.3')
  })

  it('leads what a client goes on to send over UDP to another backend when its own is gone', async () => {
    const port = { name: 'http', port: 53, protocol: 'UDP', nodePort: 30_053 } as const
    put('dns', { type: 'NodePort', ports: [port] })
    const ports = [{ name: 'http', port: 8080, protocol: 'UDP' } as const]
    fill('dns', ['10.16.0.2'], 'n1', { ports })
    const agent = await serving()
    const one = answersOf(node.host.start(process.execPath, '-e', sender, '10.96.0.10', '53'))
    const other = answersOf(outside.start(process.execPath, '-e', sender, '192.0.2.10', '30053'))
    // Of another NIC than that which the Node names.
    const third = answersOf(outside.start(process.execPath, '-e', sender, '198.51.100.1', '30053'))
    const last = (): readonly string[] => [one, other, third].map((answers) => answers.last)
    await expect.poll(last).toEqual(['10.16.0.2', '10.16.0.2', '10.16.0.2'])
    fill('dns', ['10.16.0.3'], 'n1', { ports })
    expect(await agent.settle()).toEqual([])
    await expect.poll(last).toEqual(['10.16.0.3', '10.16.0.3', '10.16.0.3'])

    // Who ends answers those whom he has, and nobody new; he may be far from where a policy leads.
    const conditions = { ready: false, serving: true, terminating: true }
    const endpoints = [
      { addresses: ['10.16.0.2'], nodeName: 'n1' },
      { addresses: ['10.16.0.3'], nodeName: 'n2', conditions },
    ]
    put('dns', {
      ...{ type: 'NodePort', ports: [port] },
      ...{ internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' },
    })
    for (const addressType of ['IPv4', 'IPv6'] as const)
      node.slices.put(`shop/dns-${addressType}`, {
        metadata: {
          ...{ name: `dns-${addressType}`, namespace: 'shop' },
          labels: { 'kubernetes.io/service-name': 'dns' },
        },
        ...{ addressType, ports, endpoints: addressType === 'IPv4' ? endpoints : [] },
      })
    expect(await agent.settle()).toEqual([])
    const late = answersOf(node.host.start(process.execPath, '-e', sender, '10.96.0.10', '53'))
    await expect.poll(() => late.last).toBe('10.16.0.2')
    const counted = [one, other, third].map((answers) => answers.count)
    const more = (): boolean =>
      [one, other, third].every(({ count }, index) => count > (counted[index] ?? 0) + 2)
    await expect.poll(more).toBe(true)
    expect(last()).toEqual(['10.16.0.3', '10.16.0.3', '10.16.0.3'])
  })

  it('leaves what another proxy leads to its backends alone', async () => {
    const port = { name: 'http', port: 53, protocol: 'UDP' } as const
    put('dns', { ports: [port] })
    node.services.put('shop/special', {
      metadata: {
        ...{ name: 'special', namespace: 'shop' },
        labels: { 'service.kubernetes.io/service-proxy-name': 'another' },
      },
      spec: { clusterIPs: ['10.96.0.20'], ports: [port] },
    })
    const ports = [{ name: 'http', port: 8080, protocol: 'UDP' } as const]
    fill('dns', ['10.16.0.2'], 'n1', { ports })
    const agent = await serving()
    const chain = 'type nat hook output priority -100;'
    node.host.run('nft', `add table ip another; add chain ip another output { ${chain} }`)
    const rule = 'ip daddr 10.96.0.20 udp dport 53 dnat to 10.16.0.2:8080'
    node.host.run('nft', `add rule ip another output ${rule}`)
    const special = answersOf(node.host.start(process.execPath, '-e', sender, '10.96.0.20', '53'))
    await expect.poll(() => special.last).toBe('10.16.0.2')
    // From here on a flow that is forgotten is led nowhere.
    node.host.run('nft', 'delete table ip another')
    fill('dns', ['10.16.0.3'], 'n1', { ports })
    expect(await agent.settle()).toEqual([])
    const answered = special.count
    await expect.poll(() => special.count).toBeGreaterThan(answered + 2)
  })

  it('tells a balancer whether it has backends, as long as there is something to tell', async () => {
    const spec = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32_100,
    } as const
    const answer = async (host = '192.0.2.10') => {
      const question = `fetch('http://${host}:32100').then(async (r) => console.log(r.status, await r.text()), (e) => console.log(e.cause.code))`
      const { stdout } = outside.start(process.execPath, '-e', question)
      const [line] = stdout === null ? [] : ((await once(stdout, 'data')) as [Buffer])
      return String(line).trim()
    }
    const told = (localEndpoints: number) =>
      JSON.stringify({
        service: { namespace: 'shop', name: 'web' },
        localEndpoints,
        serviceProxyHealthy: true,
      })
    put('web', spec)
    fill('web', ['10.16.0.2', '10.16.0.3', 'fd00:10:16::2'])
    const agent = await serving()
    expect(await answer()).toBe(`200 ${told(3)}`)
    expect(await answer('[2001:db8:51::1]')).toBe(`200 ${told(3)}`)
    fill('web', ['10.16.0.2'], 'n2')
    expect(await agent.settle()).toEqual([])
    expect(await answer()).toBe(`503 ${told(0)}`)
    // What ends is served to those who come still, and no balancer should send more.
    const conditions = { ready: false, serving: true, terminating: true }
    const endpoints = [{ addresses: ['10.16.0.2'], nodeName: 'n1', conditions }]
    fill('web', ['10.16.0.2'], 'n1', { endpoints })
    expect(await agent.settle()).toEqual([])
    expect(await answer()).toBe(`503 ${told(0)}`)
    put('web', { type: 'NodePort' })
    expect(await agent.settle()).toEqual([])
    expect(await answer()).toBe('ECONNREFUSED')
    const other = inNamespace(node.host.path, () => createServer().listen(32_100))
    put('web', spec)
    await expect
      .poll(() => agent.log.lines.map(({ fields }) => fields?.['err']))
      .toContainEqual(expect.objectContaining({ details: { port: 32_100, service: 'shop/web' } }))
    other.close()
    await expect.poll(() => answer()).toBe(`503 ${told(0)}`)
  })

  it('writes nothing when its agent starts again, is put right, and takes nothing with it but its table', async () => {
    put('web', { externalIPs: ['nonsense', '203.0.113.7'], clusterIPs: ['10.96.0.10', 'None'] })
    put('second', { externalIPs: ['203.0.113.7'], clusterIPs: ['10.96.0.11'] })
    put('name', { type: 'ExternalName', clusterIPs: ['10.96.0.12'] })
    put('headless', { clusterIPs: ['None'] })
    fill('web', ['10.16.0.2', 'nonsense'])
    fill('second', ['10.16.0.3'])
    const first = await serving()
    expect(first.log.lines.filter(({ level }) => level === 'error')).toEqual([])
    node.host.run('nft', 'delete', 'table', 'inet', 'kube-ovn-services')
    await expect.poll(() => node.host.run('nft', 'list', 'tables')).toContain('kube-ovn-services')
    await first.stop()
    const second = await serving()
    expect(await second.writes()).toBe(0)
    await second.stop()
    node.servesServices = false
    await serving()
    expect(node.host.run('nft', 'list', 'tables').trim()).toBe('table inet kube-ovn')
  })

  it('writes for an endpoint what its Service has, however many there are, and nothing for what concerns it not', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `web-${at}`)
    for (const [at, name] of names.entries()) {
      const port = { name: 'http', port: 80, protocol: 'TCP' as const, nodePort: 30_000 + at }
      put(name, { type: 'NodePort', clusterIPs: [`10.96.1.${at}`, `fd00:10:96::1:${at}`], ports: [port] })
      fill(name, ['10.16.0.2', '10.16.0.3', 'fd00:10:16::2'])
    }
    const agent = await serving()
    using written = countWrites(node.host)
    const before = await agent.writes()
    node.nodes.put('n2', nodeOf('n2', '192.0.2.11', { some: 'thing' }))
    fill('web-6', ['10.16.0.3', '10.16.0.2', 'fd00:10:16::2'], 'n2')
    expect(await agent.settle()).toEqual([])
    expect(await agent.writes()).toBe(before)
    fill('web-7', ['10.16.0.2', '10.16.0.3', '10.16.0.4', 'fd00:10:16::2'])
    expect(await agent.settle()).toEqual([])
    expect(written.take()).toEqual({ 'rule deleted': 1, 'set deleted': 1, set: 1, element: 3, rule: 1 })
    node.services.put('shop/web-8', undefined)
    expect(await agent.settle()).toEqual([])
    expect(written.take()).toMatchObject({ 'element deleted': 6, 'chain deleted': 4 })
    expect(await agent.writes()).toBe(before + 2)
    await agent.stop()
    const second = await serving()
    expect(await second.writes()).toBe(0)
    expect(written.take()).toEqual({})
  })
})

async function ready({ stdout }: ChildProcess): Promise<void> {
  if (stdout !== null) await once(stdout, 'data')
}

/** Who has answered last. */
function answersOf({ stdout }: ChildProcess): { readonly last: string; readonly count: number } {
  const answers = { last: '', count: 0 }
  stdout?.on('data', (data: Buffer) => {
    answers.count += 1
    answers.last = String(data).trim().split('\n').at(-1)?.split(' ')[0] ?? ''
  })
  return answers
}
