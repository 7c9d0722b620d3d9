import { podAnnotations, vipAnnotations } from '@kube-ovn/annotations'
import { subnetResource, switchLbRuleResource, vipResource } from '@kube-ovn/kube-api'
import { endpointSlices } from '@kube-ovn/kube-api/core'
import { endpointSlice, subnet, switchLbRule, vip } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite({ northd: true })
const [address, outside] = ['10.18.0.200', '198.51.100.1']

/** What OVN does with a packet that pod a sends on red. */
async function traced(control: Controller, packet: string): Promise<string> {
  const port = control.named('Logical_Switch_Port', 'a.default')
  const [mac = ''] = port?.addresses[0]?.split(' ') ?? []
  const flow = `inport == "a.default" && eth.src == ${mac} && ${packet}`
  const { southbound } = cluster.northbound
  return cluster.northbound.script(
    `ovn-trace --db=${southbound?.socket} --ct new --summary red '${flow}' 2>&1`,
  )
}

/** The MAC address of the router on red. */
function routerOf(control: Controller): string {
  return control.named('Logical_Router_Port', 'ovn-cluster-red')?.mac ?? ''
}

/** What OVN does with a packet to the outside that a pod sends. */
function trace(control: Controller, source: string): Promise<string> {
  const addresses = `ip4.src == ${source} && ip4.dst == ${outside}`
  return traced(control, `eth.dst == ${routerOf(control)} && ${addresses} && ip.ttl == 64 && icmp4`)
}

it.each([
  { family: 4, red: '10.18.0.0/24', blue: '10.19.0.0/24', door: '10.18.0.200' },
  { family: 6, red: 'fd00:10:18::/112', blue: 'fd00:10:19::/112', door: 'fd00:10:18::200' },
] as const)(
  'of a SwitchLBRule is found by neighbours at the router, and leads nothing else astray: IPv$family',
  async ({ family, red, blue, door }) => {
    await cluster.user.createNodes('n1')
    for (const [name, cidrBlock] of Object.entries({ red, blue }))
      await cluster.client.create(subnetResource, subnet({ name, cidrBlock }))
    await using control = await cluster.startSettled()
    const answered = { name: 'door', subnet: 'red', type: 'switch_lb_vip', [`v${family}ip`]: door }
    await cluster.client.create(vipResource, vip(answered))
    const own = await makePod(control, 'a', 'red')
    const behind = await makePod(control, 'b', 'blue')
    await cluster.client.create(switchLbRuleResource, switchLbRule({ name: 'rule', vip: door }))
    const slice = { service: 'slr-rule', addressType: `IPv${family}`, endpoints: [behind] } as const
    const port = { name: 'http', port: 8080, protocol: 'TCP' } as const
    await cluster.client.create(endpointSlices, endpointSlice({ ...slice, ports: [port] }))
    await control.settle()
    await cluster.northbound.nbctl('--wait=sb', 'sync')

    const router = routerOf(control)
    for (const target of [door, behind]) {
      const addresses = `ip${family}.src == ${own} && ip${family}.dst == ${target}`
      const packet = `eth.dst == ${router} && ${addresses} && ip.ttl == 64 && tcp.dst == 80`
      expect(await traced(control, packet)).toContain('output to "b.default"')
    }
    const { southbound } = cluster.northbound
    const printed = await cluster.northbound.script(`ovn-sbctl --db=${southbound?.socket} lflow-list red`)
    const flows = printed.split('\n')
    // What ovn-trace makes of questions by IPv6 ends it.
    const answers = flows.filter((flow) => flow.includes('ls_in_arp_rsp') && flow.includes(`${door}/`))
    expect(answers).toHaveLength(1)
    expect(answers[0]).toContain(`eth.src = ${router};`)
    // Of two that lead to one MAC address the one that happens to be first counts.
    expect(flows.filter((flow) => flow.includes(`match=(eth.dst == ${router})`))).toHaveLength(1)
  },
)

async function makePod(control: Controller, name: string, on: string): Promise<string> {
  await cluster.user.createPod({
    ...{ name, node: 'n1' },
    annotations: { [podAnnotations().logicalSwitch.key]: on },
  })
  await control.settle()
  return cluster.user.addressOf(name)
}

it('leaves the cluster from the Vip that a pod shares by a centralized gateway, and not by a distributed one', async () => {
  await cluster.user.createNodes('n1', 'n2')
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'red', cidrBlock: '10.18.0.0/24', gatewayType: 'distributed' }),
  )
  await using control = await cluster.startSettled()
  await cluster.client.create(
    vipResource,
    vip({ name: 'web', subnet: 'red', namespace: 'default', v4ip: address }),
  )
  await control.settle()
  const annotations = { [vipAnnotations.shared.key]: 'web', [podAnnotations().logicalSwitch.key]: 'red' }
  await cluster.user.createPod({ name: 'a', node: 'n2', annotations })
  await control.settle()
  await cluster.northbound.nbctl('--wait=sb', 'sync')
  const own = await cluster.user.addressOf('a')
  expect(await trace(control, own)).toMatch(/outport = "node-n2"/)
  const lost = await trace(control, address)
  // The router asks for its own address there, which nobody has.
  expect(lost).toMatch(/arp \{/)
  expect(lost).not.toMatch(/outport = "node-/)
  await cluster.client.patch(subnetResource, { name: 'red' }, 'application/merge-patch+json', {
    spec: { gatewayType: 'centralized', gatewayNode: 'n1' },
  })
  await control.settle()
  await cluster.northbound.nbctl('--wait=sb', 'sync')
  for (const source of [own, address]) expect(await trace(control, source)).toMatch(/outport = "node-n1"/)
})
