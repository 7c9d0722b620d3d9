import { controllerFinalizer, podAnnotations, providerNetworkKeysOf } from '@kube-ovn/annotations'
import { nodes, pods } from '@kube-ovn/kube'
import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { pod, providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AgentNode } from '../testing/agent-node.ts'

/* Pods in a VLAN of a physical network: a real OVN puts the tag on, and a switch of another bridge takes it off before a gateway. */

let agent: AgentNode
const keys = podAnnotations()
/** As the container has it. */
const node = '/opt/node/node'
const gateways = ['10.99.0.1', 'fd00:99::1']
const router = ['10.99.0.254', 'fd00:99::fe']

beforeAll(async () => {
  agent = await AgentNode.start()
  await agent.machine.script(
    `ip link add phys1 type veth peer name trunk
     ip link set phys1 mtu 1450 up
     ip link set trunk mtu 1450 up
     ip netns add gateway
     ip link add access type veth peer name eth0 netns gateway
     ip netns exec gateway ethtool -K eth0 tx off >/dev/null
     ip link set access mtu 1450 up
     ip -n gateway link set eth0 mtu 1450 up
     ip -n gateway addr add ${gateways[0]}/24 dev eth0
     ip -n gateway addr add ${gateways[1]}/64 dev eth0 nodad
     ovs-vsctl add-br switch -- set Bridge switch datapath_type=netdev
     ovs-vsctl add-port switch trunk -- add-port switch access tag=100
     ovn-nbctl ls-add wharf -- lsp-add wharf localnet.wharf '' 100 -- \\
       lsp-set-type localnet.wharf localnet -- lsp-set-addresses localnet.wharf unknown -- \\
       lsp-set-options localnet.wharf network_name=quay`,
  )
  const { client } = agent.api
  await client.create(providerNetworkResource, {
    ...providerNetwork({ name: 'quay' }),
    spec: { defaultInterface: 'phys1' },
  })
  await client.create(vlanResource, vlan({ name: 'v100', id: 100, provider: 'quay' }))
  await client.create(
    subnetResource,
    subnet({ name: 'wharf', vpc: 'ovn-cluster', cidrBlock: '10.99.0.0/24,fd00:99::/64' }),
  )
  await setInEffect({ vlan: 'v100' })
})
afterAll(() => agent?.[Symbol.asyncDispose]())

async function patchSubnet(change: object): Promise<void> {
  await agent.api.client.patch(subnetResource, { name: 'wharf' }, 'application/merge-patch+json', change)
}

/** Does what the controller does. */
async function setInEffect(inEffect: object, status: object = {}): Promise<void> {
  const cidrBlock = '10.99.0.0/24,fd00:99::/64'
  await agent.api.client.patch(
    subnetResource,
    { name: 'wharf' },
    'application/merge-patch+json',
    { status: { ...status, inEffect: { cidrBlock, vpc: 'ovn-cluster', ...inEffect } } },
    { subresource: 'status' },
  )
}

async function attach(name: string, index: number): Promise<void> {
  const { api, machine } = agent
  const mac = `00:00:00:00:99:${index.toString(16).padStart(2, '0')}`
  const addresses = [`10.99.0.${index}`, `fd00:99::${index}`]
  await machine.script(
    `ip netns add ${name}
     ip -n ${name} link set lo up
     ovn-nbctl lsp-add wharf ${name}.default -- lsp-set-addresses ${name}.default "${mac} ${addresses.join(' ')}"`,
  )
  await api.client.create(pods, pod({ name, node: 'node1' }))
  await api.client.patch(pods, { namespace: 'default', name }, 'application/merge-patch+json', {
    metadata: {
      annotations: {
        [keys.allocated.key]: 'true',
        [keys.routed.key]: 'true',
        [keys.ipAddress.key]: addresses.join(),
        [keys.macAddress.key]: mac,
        [keys.cidr.key]: '10.99.0.0/24,fd00:99::/64',
        [keys.gateway.key]: gateways.join(),
        [keys.logicalSwitch.key]: 'wharf',
        [keys.providerNetwork.key]: 'quay',
        [keys.vlanId.key]: '100',
      },
    },
  })
  await agent.call('ADD', name)
}

async function untilReached(from: string, to: readonly string[]): Promise<void> {
  for (const address of to)
    await vi.waitFor(
      async () => expect([address, await agent.ping(from, address)]).toEqual([address, true]),
      60_000,
    )
}

it('attaches pods to the VLAN with the MTU of the NIC, and their gateway is outside', async () => {
  await attach('crane-1', 11)
  await attach('crane-2', 12)
  const inside = await agent.machine.script(
    'ip -n crane-1 link show eth0; ip -n crane-1 route; ip -n crane-1 -6 route',
  )
  expect(inside).toContain('mtu 1450')
  expect(inside).toContain('default via 10.99.0.1')
  expect(inside).toContain('default via fd00:99::1')
  await untilReached('crane-1', [...gateways, '10.99.0.12', 'fd00:99::12'])
  await untilReached('gateway', ['10.99.0.11', 'fd00:99::12'])
  // Port, VLAN, MAC, age.
  const learned = await agent.machine.script('ovs-appctl fdb/show switch')
  expect(learned).toMatch(/\s100\s+00:00:00:00:99:0b\s/)
})

it('starts pods where their gateway answers only, as soon as it does', async () => {
  const away = 'ip -n gateway link set eth0 down'
  const back = 'ip -n gateway link set eth0 up && ip -n gateway addr replace fd00:99::1/64 dev eth0 nodad'
  await agent.machine.script(away)
  await expect(attach('crane-4', 14)).rejects.toThrow(
    'gateway 10.99.0.1 and fd00:99::1 of Subnet wharf has not answered for 30 s: ' +
      'connect it to the VLAN of the Subnet, or set spec.disableGatewayCheck of that',
  )
  // Nothing is left of it.
  expect(await agent.machine.script('ip -n crane-4 -br link')).not.toContain('eth0')

  const added = agent.call('ADD', 'crane-4')
  const ended = vi.fn<() => void>()
  void added.then(ended)
  await vi.waitFor(
    async () => expect(await agent.machine.script('ip -n crane-4 -6 neigh')).toContain('fd00:99::1'),
    20_000,
  )
  expect(ended).not.toHaveBeenCalled()
  await agent.machine.script(back)
  await added
  for (const gateway of gateways) expect(await agent.ping('crane-4', gateway)).toBe(true)

  await agent.machine.script(away)
  await patchSubnet({ spec: { disableGatewayCheck: true } })
  await attach('crane-5', 15)
  await patchSubnet({ spec: { disableGatewayCheck: false } })
  await agent.machine.script(back)
})

it('leads pods to the router of the VPC once that is in the underlay, to the overlay and back', async () => {
  await agent.machine.script(
    `ovn-nbctl lrp-add ovn-cluster ovn-cluster-wharf 00:00:00:00:99:fe ${router[0]}/24 ${router[1]}/64
     ovn-nbctl lsp-add wharf wharf-ovn-cluster -- lsp-set-type wharf-ovn-cluster router -- \\
       lsp-set-addresses wharf-ovn-cluster router -- \\
       lsp-set-options wharf-ovn-cluster router-port=ovn-cluster-wharf`,
  )
  await setInEffect({ vlan: 'v100', u2oInterconnection: true }, { u2oInterconnectionIP: router.join() })
  await agent.attachPod('deck', 20)
  await attach('crane-3', 13)
  const routes = await agent.machine.script('ip -n crane-3 route; ip -n crane-3 -6 route')
  expect(routes).toContain(`default via ${router[0]}`)
  expect(routes).toContain(`default via ${router[1]}`)
  await untilReached('crane-3', ['10.16.0.20', 'fd00:10:16::20', ...gateways])
  await untilReached('deck', ['10.99.0.13', 'fd00:99::13'])
})

it('leads what comes from the VLAN for an address of an external load balancer to backends on the node', async () => {
  const { machine } = agent
  const [v4, v6] = ['10.99.0.200', 'fd00:99::200']
  // Who announces the address answers with the MAC address of the node; backends differ from node to node.
  await machine.script(
    `for to in ${v4} ${v6}; do
       ip -n gateway neigh replace $to lladdr $(cat /sys/class/net/br-quay/address) dev eth0
     done
     ovn-nbctl create Chassis_Template_Var chassis=chassis-1 \
       variables='{web="10.99.0.13:8080","web.six"="[fd00:99::13]:8080","web.six.vip"="${v6}"}'
     ovn-nbctl --template lb-add own-v4 ${v4}:80 '^web' tcp ipv4
     ovn-nbctl --template lb-add own-v6 '^web.six.vip:80' '^web.six' tcp ipv6
     ovn-nbctl ls-lb-add wharf own-v4 -- ls-lb-add wharf own-v6
     ip netns exec crane-3 ${node} --eval "
       require('node:net').createServer((socket) => socket.end(socket.remoteAddress)).listen(8080, '::')
     " >/dev/null 2>&1 &`,
  )
  const seen = (address: string): Promise<string> =>
    machine.script(
      `ip netns exec gateway ${node} --eval "
         const socket = require('node:net').connect({ host: '${address}', port: 80, timeout: 3000 })
         const tell = (text) => { console.log(String(text).trim()); socket.destroy() }
         socket.on('data', tell).on('error', ({ code }) => tell(code)).on('timeout', () => tell('silence'))
       "`,
    )
  const flows = (): Promise<string> =>
    machine.script("ovs-ofctl dump-flows br-quay --no-stats | grep -o 'cookie=0x100.*' | sort")
  const macs = ['00:00:00:00:99:fe', '00:00:00:00:99:fd'] as const
  const publish = (nodes: readonly string[], u2oInterconnectionMAC: string = macs[0]) =>
    setInEffect(
      { vlan: 'v100', u2oInterconnection: true },
      {
        externalAddresses: [v4, v6].map((address) => ({ address, protocol: 'tcp', port: 80, nodes })),
        u2oInterconnectionMAC,
      },
    )

  const ledBy = (mac: string, out: string) =>
    [
      `cookie=0x1000, priority=10000,tcp,in_port=1,nw_dst=${v4},tp_dst=80 actions=mod_dl_dst:${mac},output:${out}`,
      `cookie=0x1001, priority=10000,tcp6,in_port=1,ipv6_dst=${v6},tp_dst=80 actions=mod_dl_dst:${mac},output:${out}`,
    ].join('\n')
  const led = ledBy(macs[0], await patchNumber())
  const untilFlows = (wanted: string) => vi.waitFor(async () => expect(await flows()).toBe(wanted), 20_000)
  const untilLed = () =>
    vi.waitFor(async () => expect(await flows()).toBe(ledBy(macs[0], await patchNumber())), 20_000)

  expect(await flows()).toBe('')
  await publish(['node1'])
  await untilFlows(led)
  await vi.waitFor(async () => expect(await seen(v4)).toBe(`::ffff:${gateways[0]}`), 20_000)
  await vi.waitFor(async () => expect(await seen(v6)).toBe(gateways[1]), 20_000)

  // The address of the router's port may become another one.
  await publish(['node1'], macs[1])
  await untilFlows(ledBy(macs[1], await patchNumber()))
  await publish(['node1'])
  await untilFlows(led)
  // What is right is not written again.
  await machine.stopAgent()
  await agent.startAgent()
  await untilLooked('bridge-flows')
  expect(writtenBy('bridge-flows')).toEqual([])
  expect(await flows()).toBe(led)

  // Flows of others stay, ours are put back.
  await machine.script(
    `ovs-ofctl add-flow br-quay cookie=0x7,priority=5,udp,tp_dst=4711,actions=drop
     ovs-ofctl del-flows br-quay cookie=0x1000/-1`,
  )
  await untilFlows(led)
  expect(await seen(v4)).toBe(`::ffff:${gateways[0]}`)
  // Those of the daemon end with it.
  await machine.replaceVswitchd()
  await untilLed()
  await vi.waitFor(async () => expect(await seen(v6)).toBe(gateways[1]), 20_000)
  // The port to OVN that goes, and comes again, has another number. ovn-controller, which makes it, waits until the daemon has let
  // go of it: to a daemon that learns of both at once it is the port that it was.
  const before = await patchNumber()
  await machine.script(
    `controller=$(cat /run/ovn/ovn-controller.pid)
     kill -STOP $controller
     trap 'kill -CONT $controller' EXIT
     ovs-vsctl del-port br-quay ${patch}`,
  )
  await untilLed()
  expect(await patchNumber()).not.toBe(before)
  await vi.waitFor(async () => expect(await seen(v4)).toBe(`::ffff:${gateways[0]}`), 20_000)

  // Without a backend here it goes by the node, where nobody serves it.
  await publish(['node2'])
  await untilFlows('')
  expect(await seen(v4)).not.toContain(gateways[0])
})

const patch = 'patch-localnet.wharf-to-br-int'

/** Waits until the agent has compared what it wants in a place with what is there, since its start. */
async function untilLooked(sink: string): Promise<void> {
  const pattern = new RegExp(
    String.raw`^controller_runtime_reconcile_total\{(?=.*controller="${sink}")(?=.*result="success").*\} [1-9]`,
    'm',
  )
  await vi.waitFor(
    async () =>
      expect(
        await agent.machine.script(
          `${node} --eval "fetch('http://127.0.0.1:10665/metrics').then((answer) => answer.text()).then(console.log)"`,
        ),
      ).toMatch(pattern),
    20_000,
  )
}

/** What the agent has written in a place since its start. */
function writtenBy(sink: string): readonly unknown[] {
  return agent.machine.agentLog.filter((line) => line['msg'] === 'node was written' && line['sink'] === sink)
}

/** The OpenFlow number of the port to OVN. */
function patchNumber(): Promise<string> {
  return agent.machine.script(`ovs-vsctl get Interface ${patch} ofport`)
}

/** Entries of the bridge that do not age, as `port VLAN MAC`, with the name of the port to OVN. */
async function fixedMacs(): Promise<readonly string[]> {
  const shown = await agent.machine.script('ovs-appctl fdb/show br-quay')
  const number = await patchNumber()
  return shown
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([port, tag, mac, age]) =>
      age === 'static' ? [`${port === number ? patch : port} ${tag} ${mac}`] : [],
    )
    .toSorted()
}

async function untilFixed(...wanted: readonly string[]): Promise<void> {
  await vi.waitFor(async () => expect(await fixedMacs()).toEqual(wanted), 20_000)
}

it("leads frames for the router's MAC address into OVN, although other nodes send with it", async () => {
  const { machine } = agent
  const u2o = { vlan: 'v100', u2oInterconnection: true }
  const published = { u2oInterconnectionMAC: '00:00:00:00:99:fe', externalAddresses: [] }
  // To all, of a kind that nobody answers, tagged, and out of the port to the node.
  const frame = `ffffffffffff0000000099fe8100006488b5${'00'.repeat(46)}`
  const sendFromAnotherNode = () =>
    machine.script(
      `trunk=$(ovs-vsctl get Interface trunk ofport)
       ovs-ofctl packet-out switch "in_port=LOCAL packet=${frame} actions=output:$trunk"`,
    )
  const routersEntry = () => machine.script('ovs-appctl fdb/show br-quay | grep 00:00:00:00:99:fe || true')
  await machine.script(
    router.map((to) => `ip -n gateway neigh replace ${to} lladdr 00:00:00:00:99:fe dev eth0`).join('\n'),
  )

  await setInEffect(u2o, { ...published, u2oInterconnectionMAC: '' })
  await untilFixed()
  await vi.waitFor(async () => {
    await sendFromAnotherNode()
    expect(await routersEntry()).toMatch(/^\s*1\s+100\s/)
  }, 20_000)
  // The bridge sends nothing back to where it came from.
  expect(await agent.ping('gateway', router[0] ?? '')).toBe(false)

  await setInEffect(u2o, published)
  await untilFixed(`${patch} 100 00:00:00:00:99:fe`)
  await machine.script('ovs-appctl fdb/flush br-quay')
  await sendFromAnotherNode()
  await untilReached('gateway', router)
  await untilFixed(`${patch} 100 00:00:00:00:99:fe`)
  // Who sends is learned as ever.
  expect(await machine.script('ovs-appctl fdb/show br-quay')).toContain(
    await machine.script("ip -n gateway -br link show eth0 | awk '{print $3}'"),
  )

  // What the daemon knows of a port ends with that: ovn-controller makes another one.
  await machine.script(`ovs-vsctl del-port br-quay ${patch}`)
  await untilFixed(`${patch} 100 00:00:00:00:99:fe`)
  await untilReached('gateway', router)
  // All that it knows ends with itself.
  await machine.replaceVswitchd()
  await untilFixed(`${patch} 100 00:00:00:00:99:fe`)
  await sendFromAnotherNode()
  await untilReached('gateway', router)
})

it("takes away what it knows of the router's MAC address, and nothing of others, with the connection", async () => {
  const { machine } = agent
  const own = `${patch} 100 00:00:00:00:99:fe`
  const kept = ['1 100 00:00:00:00:aa:01', 'LOCAL 0 00:00:00:00:aa:03'] as const
  const all = [...kept, own]
  // An entry at the port to OVN is of an agent before, whose Subnet has another MAC address by now.
  await machine.stopAgent()
  await machine.script(
    `ovs-appctl fdb/add br-quay phys1 100 00:00:00:00:aa:01
     ovs-appctl fdb/add br-quay ${patch} 100 00:00:00:00:aa:02
     ovs-appctl fdb/add br-quay br-quay 0 00:00:00:00:aa:03`,
  )
  await agent.startAgent()
  await untilFixed(...all)

  await machine.stopAgent()
  await agent.startAgent()
  await untilLooked('static-macs')
  expect(writtenBy('static-macs')).toEqual([])
  await untilFixed(...all)

  await setInEffect({ vlan: 'v100', u2oInterconnection: null }, { u2oInterconnectionMAC: '' })
  await untilFixed(...kept)
  await setInEffect(
    { vlan: 'v100', u2oInterconnection: true },
    { u2oInterconnectionMAC: '00:00:00:00:99:fe' },
  )
  await untilFixed(...all)
  await agent.api.client.remove(subnetResource, { name: 'wharf' })
  await untilFixed(...kept)
})

it('keeps what is deleted while a Subnet is on it: the tag of a Vlan, and the network that the controller holds', async () => {
  const { api, machine } = agent
  const { client } = api
  const trunks = () => machine.script('ovs-vsctl get Port phys1 trunks')
  const network = { name: 'quay' }
  const setFinalizers = (finalizers: readonly string[]) =>
    client.patch(providerNetworkResource, network, 'application/merge-patch+json', {
      metadata: { finalizers },
    })
  await client.create(
    subnetResource,
    subnet({ name: 'wharf', vpc: 'ovn-cluster', cidrBlock: '10.99.0.0/24,fd00:99::/64' }),
  )
  await setInEffect({ vlan: 'v100' })
  await setFinalizers([controllerFinalizer])
  await client.remove(providerNetworkResource, network)
  await client.remove(vlanResource, { name: 'v100' })
  // The agent has seen both once it has seen what came after them.
  await client.create(vlanResource, vlan({ name: 'v101', id: 101, provider: 'quay' }))
  await client.create(providerNetworkResource, {
    ...providerNetwork({ name: 'mole' }),
    spec: { defaultInterface: 'phys7' },
  })
  await vi.waitFor(async () => {
    const { annotations } = (await client.get(nodes, { name: 'node1' }))?.metadata ?? {}
    expect(annotations?.[providerNetworkKeysOf('mole').problem]).toContain('phys7')
    expect(await trunks()).toBe('[0, 100, 101]')
  }, 20_000)
  await machine.stopAgent()
  await agent.startAgent()
  expect(await trunks()).toBe('[0, 100, 101]')
  await untilReached('crane-1', gateways)
  await untilReached('gateway', ['10.99.0.11', 'fd00:99::12'])

  await client.remove(subnetResource, { name: 'wharf' })
  await vi.waitFor(async () => expect(await trunks()).toBe('[0, 101]'), 20_000)
  await client.remove(providerNetworkResource, { name: 'mole' })
  await setFinalizers([])
  await vi.waitFor(
    async () => expect(await machine.script('ovs-vsctl list-br')).not.toContain('br-quay'),
    20_000,
  )
})
