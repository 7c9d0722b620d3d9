import { nodeAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { nodes, type JsonValue } from '@kube-ovn/kube'
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
})

describe('uninstallation', () => {
  afterAll(async () => {
    await agent.machine.script('ip link delete foreign_h; nft delete table ip foreign')
    await agent.deletePod('web-4')
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
    expect(links.split('\n')).not.toContain('ovn0')
    expect(links.split('\n').filter((name) => name.endsWith('_h'))).toEqual(['foreign_h'])
    expect(await agent.machine.script('nft list tables')).not.toContain('inet kube-ovn')
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
