import { providerNetworkAnnotations, providerNetworkKeysOf } from '@kube-ovn/annotations'
import { nodes } from '@kube-ovn/kube'
import { providerNetworkResource, vlanResource } from '@kube-ovn/kube-api'
import { events } from '@kube-ovn/kube-api/core'
import { providerNetwork, vlan } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AgentNode } from '../testing/agent-node.ts'

/* A real Open vSwitch with the userspace data path: what it does to a NIC, its addresses and its packets. */

let agent: AgentNode

beforeAll(async () => {
  agent = await AgentNode.start()
  // The physical network: a gateway behind phys1.
  await agent.machine.script(
    `ip netns add gateway
     ip link add phys1 type veth peer name eth0 netns gateway
     ethtool -K phys1 tx off >/dev/null
     ip netns exec gateway ethtool -K eth0 tx off >/dev/null
     ip link set phys1 address 02:00:00:00:99:02 mtu 1450 up
     ip -n gateway link set eth0 mtu 1450 up
     ip -n gateway addr add 10.99.0.1/24 dev eth0
     ip -n gateway addr add fd00:99::1/64 dev eth0 nodad
     ip -n gateway addr add 10.98.0.1/32 dev lo
     ip -n gateway link set lo up
     ip addr add 10.99.0.2/24 dev phys1
     ip addr add fd00:99::2/64 dev phys1 nodad
     ip route add 10.98.0.0/16 via 10.99.0.1 metric 7
     ip -6 route add fd00:98::/64 via fd00:99::1`,
  )
})
afterAll(() => agent?.[Symbol.asyncDispose]())

async function marks(network: string): Promise<Record<string, string | undefined>> {
  const node = await agent.api.client.get(nodes, { name: 'node1' })
  const keys = providerNetworkKeysOf(network)
  const { labels, annotations } = node?.metadata ?? {}
  return {
    ready: labels?.[keys.ready],
    interface: labels?.[keys.interface],
    mtu: labels?.[keys.mtu],
    exclude: labels?.[keys.exclude],
    problem: annotations?.[keys.problem],
  }
}

const insists = providerNetworkAnnotations.takesOnlyNic
const insisting = { [insists.key]: 'true' }

const none = {
  ready: undefined,
  interface: undefined,
  mtu: undefined,
  exclude: undefined,
  problem: undefined,
}

async function until(what: () => Promise<unknown>, wanted: unknown): Promise<void> {
  await vi.waitFor(async () => expect(await what()).toEqual(wanted), { timeout: 90_000 })
}

/** Addresses and routes of a link, but those that every link has. */
async function has(link: string): Promise<readonly string[]> {
  const script = `ip -o addr show dev ${link} scope global | awk '{ print $4 }'
    { ip route show dev ${link}; ip -6 route show dev ${link}; } | awk '/via/'`
  const lines = (await agent.machine.script(script)).split('\n')
  return lines.map((line) => line.trim().replace(/ pref medium$/, '')).filter((line) => line !== '')
}

const moved = [
  '10.99.0.2/24',
  'fd00:99::2/64',
  '10.98.0.0/16 via 10.99.0.1 metric 7',
  'fd00:98::/64 via fd00:99::1 metric 1024',
]

async function reachesGateway(): Promise<boolean> {
  const pings = ['10.99.0.1', '10.98.0.1', 'fd00:99::1'].map((address) =>
    agent.machine.try(['ping', '-c', '1', '-W', '2', address]),
  )
  return (await Promise.all(pings)).every(({ exitCode }) => exitCode === 0)
}

async function eventsOf(network: string) {
  const { items } = await agent.api.client.list(events, { namespace: 'default' })
  return items.filter(({ involvedObject }) => involvedObject.name === network)
}

/** What the agent has written on the node since it was started. */
function writes(): readonly unknown[] {
  return agent.machine.agentLog.filter(({ msg }) => msg === 'node was written')
}

async function create(name: string, spec: object, annotations = {}): Promise<void> {
  await agent.api.client.create(providerNetworkResource, {
    ...providerNetwork({ name }),
    metadata: { name, annotations },
    spec: spec as never,
  })
}

async function edit(name: string, spec: object): Promise<void> {
  await agent.api.client.patch(providerNetworkResource, { name }, 'application/merge-patch+json', { spec })
}

async function mappings(): Promise<string> {
  return agent.machine.script(
    'ovs-vsctl --if-exists get Open_vSwitch . external_ids:ovn-bridge-mappings | tr -d \\"',
  )
}

it('moves a NIC into its bridge with all that it has, follows Vlans, and a restart writes nothing', async () => {
  await agent.machine.script('ovs-vsctl set Open_vSwitch . external_ids:ovn-bridge-mappings=foreign:br-x')
  await create('quay', { defaultInterface: 'phys1' })
  await until(() => marks('quay'), { ...none, ready: 'true', interface: 'phys1', mtu: '1450' })
  expect(await has('br-quay')).toEqual(moved)
  expect(await has('phys1')).toEqual([])
  expect(await agent.machine.script('cat /sys/class/net/br-quay/address /sys/class/net/br-quay/mtu')).toBe(
    '02:00:00:00:99:02\n1450',
  )
  expect(await reachesGateway()).toBe(true)
  expect(await mappings()).toBe('foreign:br-x,quay:br-quay')
  const trunks = (): Promise<string> => agent.machine.script('ovs-vsctl get Port phys1 trunks')
  expect(await trunks()).toBe('[0]')
  await agent.api.client.create(vlanResource, vlan({ name: 'v10', id: 10, provider: 'quay' }))
  await until(trunks, '[0, 10]')
  expect(await eventsOf('quay')).toMatchObject([
    { reason: 'InitOVSBridgeSucceeded', message: 'node=node1 interface=phys1 mtu=1450' },
  ])
  await agent.machine.stopAgent()
  await agent.startAgent()
  expect(writes()).toEqual([])
})

it('gives a bridge back what it had when vswitchd has made it anew, and takes what somebody gives the NIC', async () => {
  await agent.machine.replaceVswitchd()
  await until(() => has('br-quay'), moved)
  await vi.waitFor(async () => expect(await reachesGateway()).toBe(true), { timeout: 60_000 })
  await agent.machine.script('ip addr add 10.99.0.9/24 dev phys1')
  await until(() => has('phys1'), [])
  await until(() => has('br-quay'), [moved[0], '10.99.0.9/24', ...moved.slice(1)])
  await agent.machine.script('ip addr del 10.99.0.9/24 dev br-quay')
  expect(await has('br-quay')).toEqual(moved)
  // The route to the prefix is that of the address that stays.
  expect(await agent.machine.script('ip route show 10.99.0.0/24')).toMatch(
    /^10\.99\.0\.0\/24 dev br-quay .*src 10\.99\.0\.2$/,
  )
})

it('puts right what another program does to the NIC: sets it down, takes it out of the bridge', async () => {
  await agent.machine.script('ip link set phys1 down')
  await vi.waitFor(async () => expect(await reachesGateway()).toBe(true), { timeout: 60_000 })
  expect(await has('br-quay')).toEqual(moved)
  await agent.machine.script('ovs-vsctl del-port br-quay phys1')
  await until(() => agent.machine.script('ovs-vsctl --if-exists get Port phys1 trunks'), '[0, 10]')
  await vi.waitFor(async () => expect(await reachesGateway()).toBe(true), { timeout: 60_000 })
  await until(() => has('br-quay'), moved)
  expect(await has('phys1')).toEqual([])
  await until(() => marks('quay'), { ...none, ready: 'true', interface: 'phys1', mtu: '1450' })
  await agent.machine.stopAgent()
  await agent.startAgent()
  expect(writes()).toEqual([])
})

it('gives the NIC back with what the bridge has when the node takes no part any more', async () => {
  await edit('quay', { excludeNodes: ['node1'] })
  await until(() => marks('quay'), { ...none, exclude: 'true' })
  await until(() => has('phys1'), moved)
  await until(() => agent.machine.script('ip link show br-quay 2>/dev/null || true'), '')
  expect(await mappings()).toBe('foreign:br-x')
  expect(await reachesGateway()).toBe(true)
})

it('gives bridge and NIC the other’s name, and their own ones in the end', async () => {
  await edit('quay', { excludeNodes: null, exchangeLinkName: true })
  await until(() => marks('quay'), { ...none, ready: 'true', interface: 'phys1', mtu: '1450' })
  expect(await has('phys1')).toEqual(moved)
  expect(await has('br-quay')).toEqual([])
  expect(await agent.machine.script('ovs-vsctl list-ports phys1')).toContain('br-quay')
  expect(await reachesGateway()).toBe(true)
  await agent.api.client.remove(providerNetworkResource, { name: 'quay' })
  await until(() => marks('quay'), none)
  await until(() => agent.machine.script('ovs-vsctl list-br | grep -v br-int || true'), '')
  await until(() => agent.machine.script('ip link show br-quay 2>/dev/null || true'), '')
  expect(await has('phys1')).toEqual(moved)
  expect(await reachesGateway()).toBe(true)
})

it('says what is wrong with an interface, and connects it when that is mended', async () => {
  await create('pier', { defaultInterface: 'phys7' })
  await vi.waitFor(async () => expect((await marks('pier')).problem).toContain('value=phys7'), 60_000)
  const told = expect.stringMatching(
    /^node=node1 interface=phys7 error=.*field=spec.defaultInterface value=phys7/,
  ) as string
  const warning = { type: 'Warning', reason: 'InitOVSBridgeFailed', message: told }
  await vi.waitFor(async () => expect(await eventsOf('pier')).toMatchObject([warning]), 20_000)
  await edit('pier', { defaultInterface: 'phys1' })
  await until(() => marks('pier'), { ...none, ready: 'true', interface: 'phys1', mtu: '1450' })
  await create('rival', { defaultInterface: 'phys1' })
  await vi.waitFor(async () => expect((await marks('rival')).problem).toContain('pier has this one'), 60_000)
  expect((await marks('pier')).ready).toBe('true')
  // What is wrong with another one keeps no NIC.
  await create('adrift', { defaultInterface: 'phys9' })
  await vi.waitFor(async () => expect((await marks('adrift')).problem).toContain('value=phys9'), 60_000)
  const refused = expect.stringMatching(
    /field=spec.defaultInterface value=phys1.*pier has this one/,
  ) as string
  const refusal = { type: 'Warning', reason: 'InitOVSBridgeFailed', message: refused }
  await vi.waitFor(async () => expect(await eventsOf('rival')).toMatchObject([refusal]), 20_000)
  // The next one has it by itself once it is free.
  await agent.api.client.remove(providerNetworkResource, { name: 'pier' })
  await until(() => marks('rival'), { ...none, ready: 'true', interface: 'phys1', mtu: '1450' })
  expect(await has('br-rival')).toEqual(moved)
  expect(await reachesGateway()).toBe(true)
  await agent.api.client.remove(providerNetworkResource, { name: 'rival' })
  await until(() => marks('rival'), none)
  await until(() => has('phys1'), moved)
  await agent.api.client.remove(providerNetworkResource, { name: 'adrift' })
  await until(() => marks('adrift'), none)
})

it('makes no bridge of a name that another link or port has, and makes it once that is free', async () => {
  await agent.machine.script('ip link add br-lagoon type bridge')
  await create('lagoon', { defaultInterface: 'phys1' })
  const problem = async (): Promise<string> => (await marks('lagoon')).problem ?? ''
  await vi.waitFor(async () => expect(await problem()).toContain('the link of kind bridge br-lagoon'), 60_000)
  expect(await problem()).toContain('field=metadata.name value=lagoon')
  expect(await has('phys1')).toEqual(moved)
  await agent.machine.script(
    `ovs-vsctl --no-wait add-port br-int br-lagoon -- set Interface br-lagoon type=internal
     ip link del br-lagoon`,
  )
  await vi.waitFor(
    async () => expect(await problem()).toContain('the port of Open vSwitch br-lagoon'),
    60_000,
  )
  await agent.machine.script('ovs-vsctl del-port br-int br-lagoon')
  await until(async () => (await marks('lagoon')).ready, 'true')
  await agent.api.client.remove(providerNetworkResource, { name: 'lagoon' })
  await until(() => has('phys1'), moved)
})

it('moves the only NIC of a node as soon as somebody insists on it, or another one leads out, too', async () => {
  const before = await has('eth0')
  await create('shore', { defaultInterface: 'eth0' })
  await vi.waitFor(async () => expect((await marks('shore')).problem).toContain(insists.key), 60_000)
  expect((await marks('shore')).problem).toContain('field=spec.defaultInterface value=eth0')
  expect(await has('eth0')).toEqual(before)
  await agent.api.client.patch(providerNetworkResource, { name: 'shore' }, 'application/merge-patch+json', {
    metadata: { annotations: insisting },
  })
  await until(async () => (await marks('shore')).ready, 'true')
  expect(await has('br-shore')).toEqual(before)
  // Who has it keeps it.
  await agent.api.client.patch(providerNetworkResource, { name: 'shore' }, 'application/merge-patch+json', {
    metadata: { annotations: { [insists.key]: null } },
  })
  await edit('shore', { preserveVlanInterfaces: true })
  await agent.machine.stopAgent()
  await agent.startAgent()
  expect(await has('br-shore')).toEqual(before)
  await agent.api.client.remove(providerNetworkResource, { name: 'shore' })
  await until(() => has('eth0'), before)
  await create('shore', { defaultInterface: 'eth0' })
  await vi.waitFor(async () => expect((await marks('shore')).problem).toContain(insists.key), 60_000)
  await agent.machine.script(
    `ip route add default via 10.99.0.1 dev phys1 metric 4000
     ip -6 route add default via fd00:99::1 dev phys1 metric 4000`,
  )
  await until(async () => (await marks('shore')).ready, 'true')
  await agent.api.client.remove(providerNetworkResource, { name: 'shore' })
  await until(() => has('eth0'), before)
  await agent.machine.script('ip route del default dev phys1; ip -6 route del default dev phys1')
})

it('moves the NIC that leads to the API server, and takes that back when it leads there no more', async () => {
  const before = await has('eth0')
  await create('shore', { defaultInterface: 'eth0' }, insisting)
  await until(async () => (await marks('shore')).ready, 'true')
  expect(await has('br-shore')).toEqual(before)
  await agent.api.client.remove(providerNetworkResource, { name: 'shore' })
  await until(() => marks('shore'), none)
  await until(() => has('eth0'), before)
  await agent.machine.script(
    `nft add table inet cut
     nft 'add chain inet cut output { type filter hook output priority 0; }'
     nft add rule inet cut output oifname br-shore drop`,
  )
  await create('shore', { defaultInterface: 'eth0' }, insisting)
  await vi.waitFor(
    async () => expect((await marks('shore')).problem).toContain('taken out of the bridge again'),
    { timeout: 300_000 },
  )
  expect(await has('eth0')).toEqual(before)
  await agent.machine.script('nft delete table inet cut')
  // It is not tried again by itself, but when the user has edited it.
  await agent.machine.stopAgent()
  await agent.startAgent()
  expect(writes()).toEqual([])
  await edit('shore', { preserveVlanInterfaces: false })
  await until(async () => (await marks('shore')).ready, 'true')
  await agent.api.client.remove(providerNetworkResource, { name: 'shore' })
  await until(() => has('eth0'), before)
})
