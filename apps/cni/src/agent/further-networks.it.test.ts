import { podAnnotations, qosAnnotations } from '@kube-ovn/annotations'
import { pods } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AgentNode, inNamespace, macOf } from '../testing/agent-node.ts'

const provider = 'backstage.default.ovn'
const keys = podAnnotations()
const further = podAnnotations(provider)

const net1 = { CNI_IFNAME: 'net1' }

let agent: AgentNode

beforeAll(async () => {
  agent = await AgentNode.start()
  await agent.machine.script('ovn-nbctl ls-add backstage')
  const made = subnet({ name: 'backstage', vpc: 'ovn-cluster', cidrBlock: '10.30.0.0/24' })
  await agent.api.client.create(subnetResource, { ...made, spec: { ...made.spec, provider } })
})
afterAll(() => agent?.[Symbol.asyncDispose]())

/** Makes a pod with a second NIC, annotated as the controller does and the user asks. */
async function createPod(name: string, index: number, asked: Record<string, string> = {}): Promise<void> {
  await agent.createPod(name, index)
  const address = `10.30.0.${index}`
  const port = `${name}.default.${provider}`
  await agent.machine.script(
    `ovn-nbctl lsp-add backstage ${port} -- lsp-set-addresses ${port} "${macOf(index)} ${address}"`,
  )
  await annotate(name, {
    [further.allocated.key]: 'true',
    [further.routed.key]: 'true',
    [further.ipAddress.key]: address,
    [further.macAddress.key]: macOf(index),
    [further.cidr.key]: '10.30.0.0/24',
    [further.gateway.key]: '10.30.0.1',
    [further.logicalSwitch.key]: 'backstage',
    ...asked,
  })
}

async function annotate(name: string, annotations: Record<string, string | null>): Promise<void> {
  const ref = { namespace: 'default', name }
  await agent.api.client.patch(pods, ref, 'application/merge-patch+json', { metadata: { annotations } })
}

async function attach(name: string): Promise<void> {
  for (const [configuration, env] of [
    [{}, {}],
    [{ provider, name: 'backstage' }, net1],
  ] as const)
    expect(await agent.machine.plugin('ADD', name, configuration, env)).toMatchObject({ exitCode: 0 })
}

it('are attached beside the first one, checked, and taken off by themselves', async () => {
  await createPod('web-1', 5)
  await createPod('web-2', 6)
  for (const name of ['web-1', 'web-2']) await attach(name)
  for (const address of ['10.16.0.6', '10.30.0.6', 'fd00:10:16::6'])
    expect([address, await agent.ping('web-1', address)]).toEqual([address, true])
  expect(await agent.machine.script('ip -n web-1 route get 10.30.0.6')).toContain('dev net1')
  expect(await agent.machine.script('ip -n web-1 route show default')).toBe(
    'default via 10.16.0.1 dev eth0 proto static',
  )
  const own = { provider, name: 'backstage' }
  expect(await agent.machine.plugin('CHECK', 'web-1', own, net1)).toMatchObject({ exitCode: 0 })
  await agent.machine.script('ip -n web-1 addr del 10.30.0.5/24 dev net1')
  expect(await agent.machine.plugin('CHECK', 'web-1', own, net1)).toMatchObject({ exitCode: 1 })
  expect(await agent.machine.plugin('DEL', 'web-1', own, net1)).toMatchObject({ exitCode: 0 })
  expect((await agent.portsOf('web-1')).split('\n')).toHaveLength(1)
  expect(await agent.ping('web-1', '10.16.0.6')).toBe(true)
  await agent.detachPod('web-1')
})

it('have the routes that the Pod asks for, and the default one if it says so', async () => {
  await createPod('web-3', 7, {
    [keys.defaultRoute.key]: 'false',
    [further.defaultRoute.key]: 'true',
    [keys.routes.key]:
      '[{"dst":"192.0.2.0/24","gw":"10.16.0.6"},{"dst":"2001:db8::/32","gw":"fd00:10:16::6"}]',
    [further.routes.key]:
      '[{"dst":"198.51.100.0/24","gw":"10.30.0.6"},{"dst":"2001:db8:1::/48","gw":"fd00::1"}]',
  })
  await attach('web-3')
  await agent.machine.script(
    `for address in 192.0.2.9/32 198.51.100.9/32 2001:db8::9/128; do ip -n web-2 addr add $address dev lo; done`,
  )
  for (const address of ['192.0.2.9', '198.51.100.9', '2001:db8::9'])
    expect([address, await agent.ping('web-3', address)]).toEqual([address, true])
  expect(await agent.machine.script('ip -n web-3 route show default')).toBe(
    'default via 10.30.0.1 dev net1 proto static',
  )
  await expect
    .poll(() => agent.eventMessages('web-3'))
    .toContainEqual(expect.stringContaining('left out: 2001:db8:1::/48 via fd00::1'))
  await agent.detachPod('web-3')
})

it('are as fast as the Pod says, also while it runs', { timeout: 300_000 }, async () => {
  const { ingressRate, ingressBurst, egressRate } = qosAnnotations()
  await agent.serveTcp('web-2', '10.16.0.6', 80)
  await createPod('web-4', 8, { [ingressRate.key]: '1', [ingressBurst.key]: '0' })
  await attach('web-4')
  const host = await agent.hostEndOf('web-4')
  await expect.poll(() => agent.machine.script(`tc class show dev ${host}`)).toContain('ceil 1Mbit')
  const startedMs = performance.now()
  expect(await agent.tcp(inNamespace('web-4'), '10.16.0.6', 80)).toBe('10.16.0.8')
  // 100 kB at 1 Mbit/s: no machine is fast enough to be done before.
  expect(performance.now() - startedMs).toBeGreaterThan(750)
  await annotate('web-4', { [ingressRate.key]: '20', [egressRate.key]: '10' })
  await expect.poll(() => agent.machine.script(`tc class show dev ${host}`)).toContain('ceil 20Mbit')
  await expect
    .poll(() => agent.machine.script(`ovs-vsctl get Interface ${host} ingress_policing_rate`))
    .toBe('10000')
  await annotate('web-4', { [ingressRate.key]: 'fast' })
  await expect.poll(() => agent.machine.script(`tc class show dev ${host}`)).toBe('')
  await expect.poll(() => agent.eventReasons('web-4')).toContain('PodQoSUpdateFailed')
  await agent.detachPod('web-4')
  expect(await agent.machine.script('ovs-vsctl --columns=_uuid list QoS; ovs-vsctl list Queue')).toBe('')
})

it('are mirrored while the Pod says so: what they receive and what they send', async () => {
  const received = async (): Promise<number> =>
    Number(
      await agent.machine.script('cat /sys/class/net/mirror0/statistics/rx_packets 2>/dev/null || echo -1'),
    )
  await createPod('web-5', 9)
  await attach('web-5')
  await annotate('web-5', { [further.mirror.key]: 'true' })
  await expect.poll(() => agent.machine.script('ip -o link show up')).toContain('mirror0')
  await expect
    .poll(async () => {
      const before = await received()
      expect(await agent.ping('web-2', '10.30.0.9')).toBe(true)
      return (await received()) - before
    })
    .toBeGreaterThanOrEqual(2)
  await annotate('web-5', { [further.mirror.key]: null })
  await expect.poll(received).toBe(-1)
  await agent.detachPod('web-5')
})

it('lack no right that the chart should give', async () => {
  expect(await agent.api.missingRights()).toEqual([])
})
