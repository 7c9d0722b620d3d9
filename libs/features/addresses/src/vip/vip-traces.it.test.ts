import { podAnnotations, vipAnnotations } from '@kube-ovn/annotations'
import { subnetResource, vipResource } from '@kube-ovn/kube-api'
import { subnet, vip } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite({ northd: true })
const [address, outside] = ['10.18.0.200', '198.51.100.1']

/** What OVN does with a packet to the outside that a pod sends. */
async function trace(control: Controller, source: string): Promise<string> {
  const port = control.named('Logical_Switch_Port', 'a.default')
  const [mac = ''] = port?.addresses[0]?.split(' ') ?? []
  const router = control.named('Logical_Router_Port', 'ovn-cluster-red')?.mac
  const flow = [
    `inport == "a.default" && eth.src == ${mac} && eth.dst == ${router}`,
    `ip4.src == ${source} && ip4.dst == ${outside} && ip.ttl == 64 && icmp4`,
  ].join(' && ')
  const { southbound } = cluster.northbound
  return cluster.northbound.script(`ovn-trace --db=${southbound?.socket} --summary red '${flow}' 2>&1`)
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
