import { nodeAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { events } from '@kube-ovn/kube-api/core'
import { node, pod, subnet } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { containerId, NodeContainer, pluginCommand } from '../testing/node-container.ts'

/*
 * A real node: OVN with the userspace data path in a container, the agent on it, and a real API server. The test plays
 * the controller: it makes the rows of the Northbound, and annotates Node and Pods.
 */

const northbound = `
ovn-nbctl lr-add ovn-cluster -- set Logical_Router ovn-cluster options:always_learn_from_arp_request=false
ovn-nbctl ls-add join -- ls-add ovn-default
ovn-nbctl lrp-add ovn-cluster ovn-cluster-join 00:00:00:00:64:01 100.64.0.1/16 fd00:100:64::1/112
ovn-nbctl lrp-add ovn-cluster ovn-cluster-ovn-default 00:00:00:00:16:01 10.16.0.1/16 fd00:10:16::1/112
ovn-nbctl lsp-add join join-ovn-cluster -- lsp-set-type join-ovn-cluster router -- \\
  lsp-set-addresses join-ovn-cluster router -- lsp-set-options join-ovn-cluster router-port=ovn-cluster-join
ovn-nbctl lsp-add ovn-default ovn-default-ovn-cluster -- lsp-set-type ovn-default-ovn-cluster router -- \\
  lsp-set-addresses ovn-default-ovn-cluster router -- \\
  lsp-set-options ovn-default-ovn-cluster router-port=ovn-cluster-ovn-default
ovn-nbctl lsp-add join node-node1 -- lsp-set-addresses node-node1 "00:00:00:00:64:02 100.64.0.2 fd00:100:64::2"
ovn-nbctl lr-route-add ovn-cluster 0.0.0.0/0 100.64.0.2
ovn-nbctl lr-route-add ovn-cluster ::/0 fd00:100:64::2
`

let api: KubeApi
let machine: NodeContainer

beforeAll(async () => {
  ;[api, machine] = await Promise.all([sharedKubeApi(), NodeContainer.start()])
  await machine.script(northbound)
  await createSubnet('join', { cidrBlock: '100.64.0.0/16,fd00:100:64::/112', natOutgoing: false })
  await createSubnet('ovn-default', { cidrBlock: '10.16.0.0/16,fd00:10:16::/112', natOutgoing: true })
  const own = node({
    name: 'node1',
    addresses: [machine.address],
    annotations: allocation('100.64.0.2,fd00:100:64::2', '00:00:00:00:64:02', 'join'),
  })
  await api.client.create(nodes, own)
  await api.client.patch(
    nodes,
    { name: 'node1' },
    'application/merge-patch+json',
    { status: own.status },
    { subresource: 'status' },
  )
  const home = pod({ name: 'kube-ovn-cni-1', namespace: 'kube-system', node: 'node1', hostNetwork: true })
  await api.client.create(pods, { ...home, spec: { ...home.spec, serviceAccountName: 'kube-ovn-cni' } })
  await startAgent()
})

/** Starts the agent, and waits until pods can be attached. */
async function startAgent(): Promise<void> {
  await machine.startAgent(await agentKubeconfig(), 'node1')
  await vi.waitFor(
    async () => expect(await machine.plugin('STATUS', '')).toMatchObject({ exitCode: 0 }),
    30_000,
  )
}

afterAll(() => machine?.[Symbol.asyncDispose]())

/** With the token of the agent's own pod, since policies hold it to the node of that. */
function agentKubeconfig(): Promise<string> {
  return api.accountKubeconfig('kube-system/kube-ovn-cni', 'kube-ovn-cni-1')
}

/** A pod's and a node's annotations about their address have the same keys. */
const keys = podAnnotations()

function allocation(addresses: string, mac: string, subnetName: string): Record<string, string> {
  const [cidr, gateway] =
    subnetName === 'join'
      ? ['100.64.0.0/16,fd00:100:64::/112', '100.64.0.1,fd00:100:64::1']
      : ['10.16.0.0/16,fd00:10:16::/112', '10.16.0.1,fd00:10:16::1']
  return {
    [keys.allocated.key]: 'true',
    [keys.routed.key]: 'true',
    [keys.ipAddress.key]: addresses,
    [keys.macAddress.key]: mac,
    [keys.cidr.key]: cidr,
    [keys.gateway.key]: gateway,
    [keys.logicalSwitch.key]: subnetName,
  }
}

async function createSubnet(name: string, spec: { cidrBlock: string; natOutgoing: boolean }): Promise<void> {
  await api.client.create(subnetResource, subnet({ name, vpc: 'ovn-cluster', ...spec }))
  const conditions = [{ type: 'Validated', status: 'True', reason: 'Test', message: '' }]
  await api.client.patch(
    subnetResource,
    { name },
    'application/merge-patch+json',
    { status: { conditions } },
    { subresource: 'status' },
  )
}

function macOf(index: number): string {
  return `00:00:00:00:16:${index.toString(16).padStart(2, '0')}`
}

/** Makes a pod with its namespace and its logical port, annotated as the controller does. */
async function createPod(name: string, index: number, mac = macOf(index)): Promise<Pod> {
  await machine.script(`ip netns add ${name}; ip -n ${name} link set lo up`)
  const created = await api.client.create(pods, pod({ name, node: 'node1' }))
  const [v4, v6] = [`10.16.0.${index}`, `fd00:10:16::${index}`]
  await machine.script(
    `ovn-nbctl lsp-add ovn-default ${name}.default -- lsp-set-addresses ${name}.default "${mac} ${v4} ${v6}"`,
  )
  await api.client.patch(pods, { namespace: 'default', name }, 'application/merge-patch+json', {
    metadata: { annotations: allocation(`${v4},${v6}`, mac, 'ovn-default') },
  })
  return created
}

async function attachPod(name: string, index: number): Promise<void> {
  await createPod(name, index)
  expect(await machine.plugin('ADD', name)).toMatchObject({ exitCode: 0 })
}

async function detachPod(name: string): Promise<void> {
  expect(await machine.plugin('DEL', name)).toMatchObject({ exitCode: 0 })
  await deletePod(name)
}

async function deletePod(name: string): Promise<void> {
  await api.client.remove(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 })
  await machine.script(
    `ip netns delete ${name} 2>/dev/null || true; ovn-nbctl --if-exists lsp-del ${name}.default`,
  )
}

async function portsOf(name: string): Promise<string> {
  return machine.script(`ovs-vsctl --bare --columns=name find Interface external_ids:pod_name=${name}`)
}

async function ping(from: string, to: string): Promise<boolean> {
  const { exitCode } = await machine.try(['ip', 'netns', 'exec', from, 'ping', '-c', '1', '-W', '2', to])
  return exitCode === 0
}

/** Pings without end; stopping it tells the sequence numbers that were answered, which begin with 1. */
async function startPing(
  from: string,
  to: string,
): Promise<{ readonly stop: () => Promise<readonly number[]> }> {
  const script = `echo $$ > /run/ping.pid; exec ip netns exec ${from} ping -i 0.05 ${to}`
  const pinging = machine.try(['sh', '-c', script])
  await machine.script('until [ -s /run/ping.pid ]; do sleep 0.05; done')
  return {
    async stop() {
      await machine.script('kill -INT $(cat /run/ping.pid)')
      const { stdout } = await pinging
      return [...stdout.matchAll(/bytes from .*icmp_seq=(\d+)/g)].map(([, sequence]) => Number(sequence))
    },
  }
}

/** Lets a namespace know a MAC address of others, which does not end by itself while a test runs. */
async function remember(name: string, addresses: readonly string[], mac: string): Promise<void> {
  await machine.script(
    `for family in ipv4 ipv6; do
       ip netns exec ${name} sysctl -qw net.$family.neigh.eth0.base_reachable_time_ms=3600000
     done
     for address in ${addresses.join(' ')}; do
       ip -n ${name} neigh replace $address lladdr ${mac} dev eth0 nud reachable
     done`,
  )
}

async function untilKnown(name: string, addresses: readonly string[], mac: string): Promise<void> {
  for (const address of addresses)
    await expect.poll(() => machine.script(`ip -n ${name} neigh show ${address}`)).toContain(`lladdr ${mac}`)
}

let barriers = 0

/** Events are sent one after the other: with the one of this pod, all before it are. */
async function untilEventsAreSent(): Promise<void> {
  const name = `barrier-${++barriers}`
  await attachPod(name, 200 + barriers)
  expect(await machine.plugin('DEL', name)).toMatchObject({ exitCode: 0 })
  await expect.poll(() => eventReasons(name)).toContain('PodNetworkRemoved')
  await deletePod(name)
}

async function eventReasons(name: string): Promise<readonly (string | undefined)[]> {
  const selection = { namespace: 'default', fieldSelector: `involvedObject.name=${name}` }
  return (await api.client.list(events, selection)).items.map(({ reason }) => reason)
}

function inNamespace(name: string): readonly string[] {
  return ['ip', 'netns', 'exec', name]
}

/** Serves a TCP port in a pod: it tells each client the client's address, padded so that segments are full. */
async function serveTcp(name: string, address: string, port: number): Promise<void> {
  const program = `
    require('net').createServer((socket) => socket.end(socket.remoteAddress + '\\n' + 'x'.repeat(100000)))
      .listen(${port}, '${address}', () => console.log('listening'))`
  await machine.script(
    `ip netns exec ${name} /opt/node/node -e "${program}" > /run/${name}-${port}.log 2>&1 &
     until grep -qs listening /run/${name}-${port}.log; do sleep 0.05; done`,
  )
}

/** Connects, reads to the end, and answers the address that the server saw. */
async function tcp(prefix: readonly string[], address: string, port: number): Promise<string> {
  const program = `
    let text = ''
    const socket = require('net').connect({ host: '${address}', port: ${port}, timeout: 5000 })
    socket.on('timeout', () => process.exit(1)).on('data', (chunk) => { text += chunk })
    socket.on('end', () => console.log(text.length > 100000 ? text.split('\\n')[0] : 'truncated'))`
  const { stdout, stderr } = await machine.try([...prefix, '/opt/node/node', '-e', program])
  return stdout.trim() || stderr
}

describe('the node', () => {
  it('becomes available: chassis, tunnel end, ovn0 with addresses, routes and condition', async () => {
    await expect
      .poll(async () => (await api.client.get(nodes, { name: 'node1' }))?.status?.conditions)
      .toContainEqual(expect.objectContaining({ type: 'NetworkUnavailable', status: 'False' }))
    const own = await api.client.get(nodes, { name: 'node1' })
    expect(nodeAnnotations.chassis.read(own?.metadata.annotations)).toBe('chassis-1')
    expect(own?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'NetworkUnavailable',
        status: 'False',
        reason: 'JoinSubnetGatewayReachable',
      }),
    )
    expect(await machine.script('ovs-vsctl get Open_vSwitch . external_ids:ovn-encap-ip')).toBe(
      `"${machine.address}"`,
    )
    const routes = await machine.script('ip route show dev ovn0; ip -6 route show dev ovn0')
    expect(routes).toContain(`10.16.0.0/16 via 100.64.0.1 proto static src ${machine.address}`)
    expect(routes).toContain('100.64.0.0/16 proto kernel scope link src 100.64.0.2')
    expect(routes).toContain('fd00:10:16::/112 via fd00:100:64::1')
    expect(await machine.script('ping -c 1 -W 2 100.64.0.1 && ping -c 1 -W 2 fd00:100:64::1')).toContain(
      '1 received',
    )
  })

  it('heals a route, an address and offload of ovn0 that somebody removed', async () => {
    await machine.script('ip route del 10.16.0.0/16 dev ovn0; ip addr del fd00:100:64::2/112 dev ovn0')
    await expect
      .poll(() => machine.script('ip route show dev ovn0; ip -6 addr show dev ovn0'))
      .toMatch(/10\.16\.0\.0\/16[\s\S]*fd00:100:64::2/)
    await machine.script('ethtool -K ovn0 tx on')
    await expect.poll(() => machine.script('ethtool -k ovn0 | grep tx-checksumming')).toContain('off')
  })
})

describe('the address of a node', () => {
  const own = ['100.64.0.2', 'fd00:100:64::2']
  const [before, after] = ['00:00:00:00:64:02', '00:00:00:00:64:22']

  beforeAll(async () => {
    const other = '00:00:00:00:64:03 100.64.0.3 fd00:100:64::3'
    await machine.script(
      `ip netns add other-node
       ip link add other-node type veth peer name eth0 netns other-node
       ip link set other-node up
       ip netns exec other-node ethtool -K eth0 tx off >/dev/null
       ip -n other-node link set eth0 address 00:00:00:00:64:03 up
       ip -n other-node addr add 100.64.0.3/16 dev eth0
       ip -n other-node addr add fd00:100:64::3/112 dev eth0 nodad
       ovn-nbctl lsp-add join node-other -- lsp-set-addresses node-other "${other}"
       ovs-vsctl add-port br-int other-node -- set Interface other-node external_ids:iface-id=node-other`,
    )
  })
  afterAll(async () => {
    await moveTo(before)
    await machine.script(
      'ovs-vsctl del-port other-node; ovn-nbctl lsp-del node-other; ip netns delete other-node',
    )
  })

  it('is found by other nodes at once when it has another MAC address', async () => {
    for (const address of own) await expect.poll(() => ping('other-node', address)).toBe(true)
    await remember('other-node', own, before)
    await moveTo(after)
    await untilKnown('other-node', own, after)
    for (const address of own) await expect.poll(() => ping('other-node', address)).toBe(true)
  })

  async function moveTo(mac: string): Promise<void> {
    await machine.script(`ovn-nbctl lsp-set-addresses node-node1 "${mac} ${own.join(' ')}"`)
    await api.client.patch(nodes, { name: 'node1' }, 'application/merge-patch+json', {
      metadata: { annotations: { [keys.macAddress.key]: mac } },
    })
  }
})

describe('a pod', () => {
  // Each test works with these two, and leaves them as they are, or with pods of its own.
  beforeAll(async () => {
    await attachPod('web-1', 5)
    await attachPod('web-2', 6)
    await serveTcp('web-2', '10.16.0.6', 80)
    await serveTcp('web-2', 'fd00:10:16::6', 80)
  })
  afterAll(async () => {
    for (const name of ['web-1', 'web-2']) await detachPod(name)
  })

  it('is attached: it reaches another pod, the gateway, the node and, masqueraded, the world', async () => {
    const [added] = await Promise.all([machine.plugin('ADD', 'web-7'), createPod('web-7', 7)])
    expect(added).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(added.stdout)).toEqual({
      cniVersion: '1.1.0',
      interfaces: [{ name: 'eth0', mac: '00:00:00:00:16:07', mtu: 1400, sandbox: '/run/netns/web-7' }],
      ips: [
        { interface: 0, address: '10.16.0.7/16', gateway: '10.16.0.1' },
        { interface: 0, address: 'fd00:10:16::7/112', gateway: 'fd00:10:16::1' },
      ],
      routes: [
        { dst: '0.0.0.0/0', gw: '10.16.0.1' },
        { dst: '::/0', gw: 'fd00:10:16::1' },
      ],
      dns: {},
    })
    for (const target of [
      '10.16.0.6',
      'fd00:10:16::6',
      '10.16.0.1',
      'fd00:10:16::1',
      machine.address,
      api.address,
    ]) {
      expect([target, await ping('web-7', target)]).toEqual([target, true])
    }
    expect((await machine.try(['ping', '-c', '1', '-W', '2', '10.16.0.7'])).exitCode).toBe(0)
    const line = await machine.logged('attachment added', { pod: 'default/web-7' })
    expect(line).toMatchObject({
      agentMs: expect.any(Number),
      controllerWaitMs: expect.any(Number),
      ovnWaitMs: expect.any(Number),
    })
    await detachPod('web-7')
  })

  it("has no IPv6 at the host's end: ovs-vswitchd would read four routes more with each change of a link", async () => {
    const hostEnds = await machine.script("ip -o link | grep -o '[0-9a-f]*_h'")
    expect(hostEnds.split('\n').length).toBeGreaterThanOrEqual(2)
    expect(await machine.script('ip -6 route show table all | grep _h || true')).toBe('')
  })

  it('takes TCP from a pod and from the node, by both families', async () => {
    expect(await tcp(inNamespace('web-1'), '10.16.0.6', 80)).toBe('10.16.0.5')
    expect(await tcp(inNamespace('web-1'), 'fd00:10:16::6', 80)).toBe('fd00:10:16::5')
    expect(await tcp([], '10.16.0.6', 80)).toBe(machine.address)
  })

  it('reaches another pod by a Service that kube-proxy translates on the node, which masquerades', async () => {
    // What kube-proxy does in nftables mode, in short: DNAT at dstnat, masquerading of what is marked at srcnat.
    await machine.script(
      "nft 'table ip kube-proxy; flush table ip kube-proxy; table ip kube-proxy { chain nat-prerouting { type nat hook prerouting priority dstnat; " +
        "ip daddr 10.96.0.10 tcp dport 80 dnat to 10.16.0.6:80; }; }'",
    )
    expect(await tcp(inNamespace('web-1'), '10.96.0.10', 80)).toBe('100.64.0.2')
  })

  it('passes CHECK, and fails it once its address is gone', async () => {
    expect(await machine.plugin('CHECK', 'web-1')).toMatchObject({ exitCode: 0 })
    await machine.script('ip -n web-1 addr del 10.16.0.5/16 dev eth0')
    const failed = await machine.plugin('CHECK', 'web-1')
    expect(failed.exitCode).toBe(1)
    expect(JSON.parse(failed.stdout)).toMatchObject({ code: 100 })
    await machine.script(
      'ip -n web-1 addr add 10.16.0.5/16 dev eth0; ip -n web-1 route add default via 10.16.0.1',
    )
    expect(await machine.plugin('CHECK', 'web-1')).toMatchObject({ exitCode: 0 })
  })

  it.each([
    { security: 'without port security', index: 14, successor: 15 },
    { security: 'with port security', index: 16, successor: 17 },
  ])(
    'that has the addresses of another one is found by neighbours at once, $security',
    async ({ security, index, successor }) => {
      const name = `web-${index}`
      const addresses = [`10.16.0.${index}`, `fd00:10:16::${index}`]
      const mac = macOf(successor)
      await attachPod(name, index)
      for (const address of addresses)
        expect([address, await ping('web-1', address)]).toEqual([address, true])
      await remember('web-1', addresses, macOf(index))
      await detachPod(name)
      await createPod(name, index, mac)
      const allowed = security === 'with port security' ? `"${mac} ${addresses.join(' ')}"` : ''
      await machine.script(`ovn-nbctl lsp-set-port-security ${name}.default ${allowed}`)
      expect(await machine.plugin('ADD', name)).toMatchObject({ exitCode: 0 })
      await untilKnown('web-1', addresses, mac)
      const learned = await machine.script('ovn-sbctl --bare --columns=ip list MAC_Binding')
      for (const address of addresses) expect(learned.split('\n')).not.toContain(address)
      for (const address of addresses)
        expect([address, await ping('web-1', address)]).toEqual([address, true])
      await detachPod(name)
    },
  )

  it('is attached anew when ADD is repeated', async () => {
    expect(await machine.plugin('ADD', 'web-1')).toMatchObject({ exitCode: 0 })
    expect(await ping('web-1', '10.16.0.6')).toBe(true)
  })

  it('has one event and one row more for each ADD', async () => {
    await untilEventsAreSent()
    await api.forgetWrites()
    await attachPod('web-3', 8)
    await expect.poll(() => api.writes()).toHaveLength(1)
    expect((await api.writes())[0]).toMatchObject({ verb: 'create', resource: 'events' })
    const ids = await machine.script(
      'ovs-vsctl --bare --columns=external_ids find Interface external_ids:iface-id=web-3.default',
    )
    expect(ids).toContain('ip=10.16.0.8,fd00:10:16::8')
    expect(ids).toContain('vendor=kube-ovn')
    await detachPod('web-3')
  })

  it('starts no process, neither for ADD nor for DEL', async () => {
    await createPod('web-5', 9)
    // The last process id that the container gave out tells whether anything in it forked meanwhile.
    const program = `
      const http = require('http'), fs = require('fs')
      const ask = (path) => new Promise((resolve, reject) => http
        .request({ socketPath: '/run/openvswitch/kube-ovn-daemon.sock', path, method: 'POST' }, (answer) =>
          answer.resume().on('end', () => resolve(answer.statusCode)))
        .on('error', reject)
        .end(JSON.stringify({ pod_name: 'web-5', pod_namespace: 'default', container_id: 'abcabcabcabc',
          net_ns: '/run/netns/web-5', if_name: 'eth0', provider: 'ovn' })))
      const lastPid = () => Number(fs.readFileSync('/proc/sys/kernel/ns_last_pid', 'utf8'))
      // The first round starts the threads that the programs go on working with.
      ask('/api/v1/add').then(() => ask('/api/v1/del')).then(async () => {
        const before = lastPid()
        const statuses = [await ask('/api/v1/add'), await ask('/api/v1/del')]
        console.log(JSON.stringify({ statuses, forks: lastPid() - before }))
      })`
    const { stdout } = await machine.try(['/opt/node/node', '-e', program])
    expect(JSON.parse(stdout)).toEqual({ statuses: [200, 204], forks: 0 })
    await deletePod('web-5')
  })

  it('loses no packet while the agent is killed and started again, which writes nothing', async () => {
    await untilEventsAreSent()
    await api.forgetWrites()
    const pinging = await startPing('web-1', '10.16.0.6')
    await machine.stopAgent('KILL')
    // As an earlier version left it.
    await machine.script('for end in /proc/sys/net/ipv6/conf/*_h; do echo 0 >$end/disable_ipv6; done')
    await startAgent()
    const answered = await pinging.stop()
    expect(answered.length).toBeGreaterThan(0)
    expect(answered).toEqual(answered.map((_sequence, index) => index + 1))
    expect(await api.writes()).toEqual([])
    const changes = machine.agentLog.filter(
      (line) => line['level'] === 'info' && String(line['msg']).match(/written|configured|removed/),
    )
    expect(changes).toEqual([])
    expect(await machine.script('cat /proc/sys/net/ipv6/conf/*_h/disable_ipv6 | sort -u')).toBe('1')
  })

  it('reaches the world by the address of the node only while natOutgoing is on', async () => {
    const ref = { name: 'ovn-default' }
    await api.client.patch(subnetResource, ref, 'application/merge-patch+json', {
      spec: { natOutgoing: false },
    })
    await expect.poll(() => ping('web-1', api.address)).toBe(false)
    await api.client.patch(subnetResource, ref, 'application/merge-patch+json', {
      spec: { natOutgoing: true },
    })
    await expect.poll(() => ping('web-1', api.address)).toBe(true)
  })

  it('works again after vswitchd was killed and started', async () => {
    await machine.replaceVswitchd()
    await expect.poll(() => ping('web-1', '10.16.0.6')).toBe(true)
    await expect
      .poll(async () => (await machine.try(['ping', '-c', '1', '-W', '1', '10.16.0.5'])).exitCode)
      .toBe(0)
    expect(await machine.script('ethtool -k ovn0 | grep tx-checksumming')).toContain('off')
  })

  it('is detached by DEL, also when its namespace is gone, and a second DEL is fine', async () => {
    await attachPod('web-6', 10)
    await machine.script('ip netns delete web-6')
    expect(await machine.plugin('DEL', 'web-6', {}, { CNI_NETNS: '' })).toMatchObject({
      exitCode: 0,
      stdout: '',
    })
    expect(await machine.plugin('DEL', 'web-6', {}, { CNI_NETNS: '' })).toMatchObject({ exitCode: 0 })
    expect(await portsOf('web-6')).toBe('')
    await deletePod('web-6')
  })

  it('is taken back whole when the controller never allocates and the runtime gives up', async () => {
    await machine.script('ip netns add late')
    await api.client.create(pods, pod({ name: 'late', node: 'node1' }))
    const { exitCode } = await machine.try(['timeout', '2', ...pluginCommand], {
      input: JSON.stringify({
        cniVersion: '1.1.0',
        name: 'kube-ovn',
        type: 'kube-ovn',
        server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
      }),
      env: {
        CNI_COMMAND: 'ADD',
        CNI_CONTAINERID: 'fedcba9876543210',
        CNI_NETNS: '/run/netns/late',
        CNI_IFNAME: 'eth0',
        CNI_PATH: '/x',
        CNI_ARGS: 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=late',
      },
    })
    expect(exitCode).toBe(124)
    expect(await machine.script('ip -n late -o link | grep -c eth0 || true')).toBe('0')
    await deletePod('late')
  })

  it('is removed by GC when the runtime does not know it any more', async () => {
    await attachPod('web-8', 11)
    const known = ['web-1', 'web-2'].map((name) => ({ containerID: containerId(name), ifname: 'eth0' }))
    const valid = { 'cni.dev/valid-attachments': known }
    expect(await machine.plugin('GC', '', { ...valid, name: 'other' })).toMatchObject({ exitCode: 0 })
    expect(await portsOf('web-8')).not.toBe('')
    expect(await machine.plugin('GC', '', valid)).toMatchObject({ exitCode: 0 })
    expect(await portsOf('web-8')).toBe('')
    expect(await portsOf('web-1')).not.toBe('')
    await deletePod('web-8')
  })
})

describe('a runtime that speaks CNI 1.1', () => {
  const asPod = (name: string): Record<string, string> => ({
    CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`,
  })
  const hostPort = {
    CAP_ARGS: JSON.stringify({ portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] }),
  }

  beforeAll(async () => {
    await machine.install('--cni-versions=1.1.0')
    await createPod('web-9', 13)
  })
  afterAll(() => deletePod('web-9'))
  beforeEach(addByList)
  afterEach(() => machine.cnitool('del', 'web-9', hostPort))

  it('has pods checked by every plugin of the list', async () => {
    const options = { ...asPod('web-9'), ...hostPort }
    expect(await machine.cnitool('check', 'web-9', options)).toMatchObject({ exitCode: 0 })
    expect(await portMappings()).toContain('10.16.0.13:80')
    await machine.script('nft flush ruleset')
    expect(await machine.cnitool('check', 'web-9', options)).toMatchObject({ exitCode: 1 })
  })

  it('is told whether the network is ready', async () => {
    expect(await machine.cnitool('status', 'web-9')).toMatchObject({ exitCode: 0, stderr: '' })
    await machine.stopAgent()
    try {
      const { exitCode, stderr } = await machine.cnitool('status', 'web-9')
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the node agent does not answer')])
    } finally {
      await startAgent()
    }
  })

  it('has what it does not know any more collected', async () => {
    // Or else libcni would remove what it remembers by DEL.
    await machine.script('rm -r /var/lib/cni/results')
    expect(await machine.cnitool('gc', 'web-9')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await portsOf('web-9')).toBe('')
  })

  it('removes a pod without saying which one it is', async () => {
    expect(await machine.cnitool('del', 'web-9', hostPort)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await portsOf('web-9')).toBe('')
    expect(await portMappings()).not.toContain('10.16.0.13')
    await expect.poll(() => eventReasons('web-9')).toContain('PodNetworkRemoved')
  })

  it('finds what an operator wrote into the list after the agent was started again', async () => {
    const path = '/etc/cni/net.d/01-kube-ovn.conflist'
    await machine.install('--cni-versions=1.0.0')
    await machine.script(`sed -i 's/"cniVersion": "1.0.0"/"cniVersion": "1.1.0"/' ${path}`)
    await machine.install()
    expect(await machine.cnitool('status', 'web-9')).toMatchObject({ exitCode: 0 })
    expect(await machine.script(`cat ${path}`)).toContain('"cniVersion": "1.1.0"')
  })

  async function addByList(): Promise<void> {
    const added = await machine.cnitool('add', 'web-9', { ...asPod('web-9'), ...hostPort })
    expect(added).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(added.stdout)).toMatchObject({ cniVersion: '1.1.0', interfaces: [{ mtu: 1400 }] })
  }

  async function portMappings(): Promise<string> {
    return machine.script('nft list ruleset')
  }
})

describe('uninstallation', () => {
  afterAll(async () => {
    await machine.script('ip link delete foreign_h; nft delete table ip foreign')
    await deletePod('web-4')
    await startAgent()
  })

  it('leaves no port, link, rule or file of ours, and those of others alone', async () => {
    await attachPod('web-4', 12)
    await machine.script(
      'nft add table ip foreign; ip link add foreign_h type veth peer name foreign_c; mkdir -p /etc/cni/net.d; echo {} > /etc/cni/net.d/01-kube-ovn.conflist',
    )
    await machine.stopAgent()
    const install = join(import.meta.dirname, '../install/main.ts')
    expect(await machine.try(['/opt/node/node', install, 'uninstall'])).toMatchObject({ exitCode: 0 })
    const links = await machine.script("ip -o link | cut -d: -f2 | cut -d@ -f1 | tr -d ' '")
    expect(links.split('\n')).not.toContain('ovn0')
    expect(links.split('\n').filter((name) => name.endsWith('_h'))).toEqual(['foreign_h'])
    expect(await machine.script('nft list tables')).not.toContain('inet kube-ovn')
    expect(await machine.script('nft list tables')).toContain('ip foreign')
    expect(await machine.script('ls /etc/cni/net.d /run/openvswitch')).not.toMatch(/conflist|kube-ovn-daemon/)
    expect(
      await machine.script('ovs-vsctl --bare --columns=name find Interface external_ids:vendor=kube-ovn'),
    ).toBe('')
  })
})

it('lacks no right that the chart should give', async () => {
  expect(await api.missingRights()).toEqual([])
})
