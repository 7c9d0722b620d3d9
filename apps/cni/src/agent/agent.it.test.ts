import { nodeAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { nodes, pods, type JsonValue } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { pod, subnet } from '@kube-ovn/testing-builders'
import { renderChart } from '@kube-ovn/testing-kube'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentNode } from '../testing/agent-node.ts'

let agent: AgentNode

beforeAll(async () => {
  agent = await AgentNode.start()
})
afterAll(() => agent?.[Symbol.asyncDispose]())

/** A pod's and a node's annotations about their address have the same keys. */
const keys = podAnnotations()

describe('the node', () => {
  it('becomes available: chassis, tunnel end, ovn0 with addresses, routes and condition', async () => {
    await expect
      .poll(async () => (await agent.api.client.get(nodes, { name: 'node1' }))?.status?.conditions)
      .toContainEqual(expect.objectContaining({ type: 'NetworkUnavailable', status: 'False' }))
    const own = await agent.api.client.get(nodes, { name: 'node1' })
    expect(nodeAnnotations.chassis.read(own?.metadata.annotations)).toBe('chassis-1')
    expect(own?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'NetworkUnavailable',
        status: 'False',
        reason: 'JoinSubnetGatewayReachable',
      }),
    )
    expect(await agent.machine.script('ovs-vsctl get Open_vSwitch . external_ids:ovn-encap-ip')).toBe(
      `"${agent.machine.address}"`,
    )
    const routes = await agent.machine.script('ip route show dev ovn0; ip -6 route show dev ovn0')
    expect(routes).toContain(`10.16.0.0/16 via 100.64.0.1 proto static src ${agent.machine.address}`)
    expect(routes).toContain('100.64.0.0/16 proto kernel scope link src 100.64.0.2')
    expect(routes).toContain('fd00:10:16::/112 via fd00:100:64::1')
    expect(
      await agent.machine.script('ping -c 1 -W 2 100.64.0.1 && ping -c 1 -W 2 fd00:100:64::1'),
    ).toContain('1 received')
  })

  it('heals a route, an address and offload of ovn0 that somebody removed', async () => {
    await agent.machine.script('ip route del 10.16.0.0/16 dev ovn0; ip addr del fd00:100:64::2/112 dev ovn0')
    await expect
      .poll(() => agent.machine.script('ip route show dev ovn0; ip -6 addr show dev ovn0'))
      .toMatch(/10\.16\.0\.0\/16[\s\S]*fd00:100:64::2/)
    await agent.machine.script('ethtool -K ovn0 tx on')
    await expect.poll(() => agent.machine.script('ethtool -k ovn0 | grep tx-checksumming')).toContain('off')
  })
})

describe('the address of a node', () => {
  const own = ['100.64.0.2', 'fd00:100:64::2']
  const [before, after] = ['00:00:00:00:64:02', '00:00:00:00:64:22']

  beforeAll(async () => {
    const other = '00:00:00:00:64:03 100.64.0.3 fd00:100:64::3'
    await agent.machine.script(
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
    await agent.machine.script(
      'ovs-vsctl del-port other-node; ovn-nbctl lsp-del node-other; ip netns delete other-node',
    )
  })

  it('is found by other nodes at once when it has another MAC address', async () => {
    for (const address of own) await expect.poll(() => agent.ping('other-node', address)).toBe(true)
    await agent.remember('other-node', own, before)
    await moveTo(after)
    await agent.untilKnown('other-node', own, after)
    for (const address of own) await expect.poll(() => agent.ping('other-node', address)).toBe(true)
  })

  async function moveTo(mac: string): Promise<void> {
    await agent.machine.script(`ovn-nbctl lsp-set-addresses node-node1 "${mac} ${own.join(' ')}"`)
    await agent.api.client.patch(nodes, { name: 'node1' }, 'application/merge-patch+json', {
      metadata: { annotations: { [keys.macAddress.key]: mac } },
    })
  }
})

it('reaches the API server without its Service where it serves that, as does who cleans up after it', async () => {
  const objects = await renderChart({ agent: { apiServer: { host: '192.0.2.1', port: 6443 } } })
  const having = objects.filter((object) =>
    JSON.stringify(object).includes('"KUBERNETES_SERVICE_HOST","value":"192.0.2.1"'),
  )
  expect(having.map(({ metadata }) => metadata.name)).toEqual(['kube-ovn-cni', 'kube-ovn-post-delete-hook'])
})

it('serves Services in the place of kube-proxy when it is told to', async () => {
  const roles = await renderChart({ features: { replaceKubeProxy: true } })
  const role = roles.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'system:kube-ovn-cni',
  )
  const { rules } = role as unknown as { readonly rules: readonly JsonValue[] }
  const clusterRoles = {
    ...{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' },
    ...{ plural: 'clusterroles', namespaced: false },
  }
  const merge = 'application/merge-patch+json'
  await agent.api.client.patch(clusterRoles, { name: 'system:kube-ovn-cni' }, merge, { rules })
  await agent.machine.stopAgent()
  await agent.startAgent(['--replace-kube-proxy'])
  // A machine of this network has no default route, and one to nowhere is none at all.
  await agent.machine.script(
    'ip route add 10.96.0.0/12 dev $(ip -o -4 addr show | grep " $(hostname -i | cut -d" " -f1)/" | cut -d" " -f2)',
  )
  const ask = `require('tls').connect({ host: '10.96.0.1', port: 443, rejectUnauthorized: false }, function () { console.log(this.getPeerCertificate().subject.CN); this.end() })`
  await expect
    .poll(() => agent.machine.try(['/opt/node/node', '-e', ask]))
    .toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/api/) as string })

  await agent.machine.stopAgent()
  await agent.startAgent()
  await expect.poll(() => agent.machine.script('nft list tables')).not.toContain('inet kube-ovn-services')
})

describe('a pod of another VPC', () => {
  const addresses = ['10.50.0.5', 'fd00:10:50::5']
  const mac = '00:00:00:00:50:05'
  const cidrBlock = '10.50.0.0/24,fd00:10:50::/112'
  const gateway = '10.50.0.1,fd00:10:50::1'

  beforeAll(async () => {
    const { api, machine } = agent
    await machine.script(
      `ip -6 route replace default via fd00:100:64::1
       ovn-nbctl lr-add red -- ls-add red -- \\
         lrp-add red red-lan 00:00:00:00:50:01 10.50.0.1/24 fd00:10:50::1/112 -- \\
         lsp-add red lan-red -- lsp-set-type lan-red router -- lsp-set-addresses lan-red router -- \\
         lsp-set-options lan-red router-port=red-lan -- \\
         lsp-add red red-1.default -- lsp-set-addresses red-1.default "${mac} ${addresses.join(' ')}"
       ip netns add red-1; ip -n red-1 link set lo up`,
    )
    await api.client.create(subnetResource, subnet({ name: 'red', vpc: 'red', cidrBlock }))
    const status = { inEffect: { vpc: 'red', cidrBlock } }
    const merge = 'application/merge-patch+json'
    await api.client.patch(subnetResource, { name: 'red' }, merge, { status }, { subresource: 'status' })
    const made = pod({ name: 'red-1', node: 'node1' })
    const probes = [
      { livenessProbe: { httpGet: { port: 8080 } } },
      { readinessProbe: { tcpSocket: { port: 8081 } } },
    ]
    const containers = probes.map((probe, at) => ({ name: `c${at}`, image: 'none', ...probe }))
    await api.client.create(pods, { ...made, spec: { ...made.spec, containers } })
    const annotations = {
      [keys.allocated.key]: 'true',
      [keys.routed.key]: 'true',
      [keys.ipAddress.key]: addresses.join(),
      [keys.macAddress.key]: mac,
      [keys.cidr.key]: cidrBlock,
      [keys.gateway.key]: gateway,
      [keys.logicalSwitch.key]: 'red',
    }
    await api.client.patch(pods, { namespace: 'default', name: 'red-1' }, merge, {
      metadata: { annotations },
    })
    await agent.call('ADD', 'red-1')
    await agent.serveTcp('red-1', '::', 8080)
  })

  async function ask(port: number): Promise<readonly string[]> {
    return Promise.all(addresses.map((address) => agent.tcp([], address, port)))
  }

  const seen = ['::ffff:169.254.81.2', 'fd81:6f76:6e70::2']

  it('takes what the node asks its probed ports, and refuses where no program listens', async () => {
    await expect.poll(() => ask(8080)).toEqual(seen)
    for (const answer of await ask(8081)) expect(answer).toContain('ECONNREFUSED')
    // OVN and the pod go on with each other.
    for (const address of gateway.split(',')) expect(await agent.ping('red-1', address)).toBe(true)
  })

  it('does so while no agent runs, and the next one writes nothing', async () => {
    const tables = await agent.machine.script('nft -a list ruleset')
    await agent.machine.stopAgent('KILL')
    expect(await ask(8080)).toEqual(seen)
    await agent.startAgent()
    expect(await ask(8080)).toEqual(seen)
    expect(await agent.machine.script('nft -a list ruleset')).toBe(tables)
  })
})

describe('uninstallation', () => {
  afterAll(async () => {
    await agent.machine.script('ip link delete foreign_h; nft delete table ip foreign')
    for (const name of ['web-4', 'red-1']) await agent.deletePod(name)
    await agent.startAgent()
  })

  it('leaves no port, link, rule or file of ours, and those of others alone', async () => {
    await agent.attachPod('web-4', 12)
    await agent.machine.script(
      'nft add table ip foreign; ip link add foreign_h type veth peer name foreign_c; mkdir -p /etc/cni/net.d; echo {} > /etc/cni/net.d/01-kube-ovn.conflist',
    )
    await agent.machine.stopAgent()
    const install = join(import.meta.dirname, '../install/main.ts')
    expect(await agent.machine.try(['/opt/node/node', install, 'uninstall'])).toMatchObject({ exitCode: 0 })
    const links = await agent.machine.script("ip -o link | cut -d: -f2 | cut -d@ -f1 | tr -d ' '")
    expect(links.split('\n').filter((name) => /^ovn(0|-probes.*)$/.test(name))).toEqual([])
    expect(await agent.machine.script('ip rule; ip -6 rule')).not.toContain('0x90003')
    expect(links.split('\n').filter((name) => name.endsWith('_h'))).toEqual(['foreign_h'])
    expect(await agent.machine.script('nft list tables')).not.toContain('kube-ovn')
    expect(await agent.machine.script('nft list tables')).toContain('ip foreign')
    expect(await agent.machine.script('ls /etc/cni/net.d /run/openvswitch')).not.toMatch(
      /conflist|kube-ovn-daemon/,
    )
    expect(
      await agent.machine.script(
        'ovs-vsctl --bare --columns=name find Interface external_ids:vendor=kube-ovn',
      ),
    ).toBe('')
  })
})

it('lacks no right that the chart should give', async () => {
  expect(await agent.api.missingRights()).toEqual([])
})
