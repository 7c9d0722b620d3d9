import { podAnnotations } from '@kube-ovn/annotations'
import { pods } from '@kube-ovn/kube'
import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { pod, providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AgentNode } from '../testing/agent-node.ts'

/* Pods in a VLAN of a physical network: a real OVN puts the tag on, and a switch of another bridge takes it off before a gateway. */

let agent: AgentNode
const keys = podAnnotations()
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
