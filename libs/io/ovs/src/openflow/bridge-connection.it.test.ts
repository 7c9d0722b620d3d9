import { parseIp, parseMac } from '@kube-ovn/ip'
import { startOpenVswitch, type OpenVswitchDatabase } from '@kube-ovn/testing-ovsdb'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { BridgeConnection } from './bridge-connection.ts'
import { flowOf, type LeadingFlow } from './flow.ts'

let ovs: OpenVswitchDatabase
let path: string

beforeAll(async () => {
  ovs = await startOpenVswitch({ vswitchd: true })
  await ovs.vsctl('add-br', 'br-quay', '--', 'set', 'Bridge', 'br-quay', 'datapath_type=dummy')
  await ovs.script('until ovs-ofctl dump-flows br-quay; do sleep 0.1; done')
  const found = await ovs.script('ls /run/*/br-quay.mgmt')
  path = `${ovs.root}${found.trim()}`
})
afterAll(() => ovs?.[Symbol.asyncDispose]())
beforeEach(() =>
  ovs.script('ovs-ofctl del-flows br-quay && ovs-ofctl add-flow br-quay priority=0,actions=NORMAL'),
)

const ours = { cookie: 0x1000n, mask: 0xffff_ffff_ffff_fffen }
const v4: LeadingFlow = {
  ...{ cookie: 0x1000n, priority: 10_000, inPort: 1, protocol: 'tcp', address: parseIp('10.180.204.252') },
  ...{ port: 80, mac: parseMac('00:00:5e:00:53:01'), outPort: 2 },
}
const v6: LeadingFlow = {
  ...v4,
  cookie: 0x1001n,
  protocol: 'udp',
  address: parseIp('fd00:10::a:1'),
  port: 53,
}

function dump(): Promise<string> {
  return ovs.script(
    "ovs-ofctl dump-flows br-quay --no-stats | sed 's/^ *//; s/send_flow_rem //' | grep -v NORMAL | sort",
  )
}

async function open(listeners: Partial<Parameters<typeof BridgeConnection.open>[2]> = {}) {
  const nobody = () => undefined
  return BridgeConnection.open(path, 10_000, { onRemoved: nobody, onClosed: nobody, ...listeners })
}

it('writes flows as ovs-ofctl does, and reads them as they were written', async () => {
  using connection = await open()
  const flows = [v4, v6].map(flowOf)
  await connection.write(flows.map((flow) => ({ what: 'add', flow })))
  expect(await dump()).toBe(
    [
      'cookie=0x1000, priority=10000,tcp,in_port=1,nw_dst=10.180.204.252,tp_dst=80 actions=mod_dl_dst:00:00:5e:00:53:01,output:2',
      'cookie=0x1001, priority=10000,udp6,in_port=1,ipv6_dst=fd00:10::a:1,tp_dst=53 actions=mod_dl_dst:00:00:5e:00:53:01,output:2',
      '',
    ].join('\n'),
  )
  const told = await connection.flows(ours)
  expect(told.toSorted((a, b) => Number(a.cookie - b.cookie))).toEqual(flows)
})

it('takes away one flow, and reads and leaves those of others', async () => {
  using connection = await open()
  const flow = flowOf(v4)
  await ovs.script('ovs-ofctl add-flow br-quay cookie=0x7,priority=10000,tcp,tp_dst=80,actions=drop')
  await connection.write([{ what: 'add', flow }])
  await connection.write([{ what: 'delete', flow }])
  expect(await connection.flows(ours)).toEqual([])
  expect(await dump()).toBe('cookie=0x7, priority=10000,tcp,tp_dst=80 actions=drop\n')
})

it('says that a flow of it was taken away, and that the daemon is gone', async () => {
  const { promise: removed, resolve: onRemoved } = Promise.withResolvers<void>()
  using connection = await open({ onRemoved })
  await connection.write([{ what: 'add', flow: flowOf(v4) }])
  await ovs.script('ovs-ofctl del-flows br-quay tcp')
  await expect(removed).resolves.toBeUndefined()
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  using _other = await open({ onClosed })
  await ovs.vsctl('set', 'Bridge', 'br-quay', 'protocols=OpenFlow10')
  await expect(closed).resolves.toBeUndefined()
  await ovs.vsctl('clear', 'Bridge', 'br-quay', 'protocols')
})

it('says what the bridge refuses', async () => {
  using connection = await open()
  const flow = { ...flowOf(v4), instructions: 'ffff000800000000' }
  await expect(connection.write([{ what: 'add', flow }])).rejects.toMatchObject({ code: 'daemon-refused' })
})

it('says that nobody is there', async () => {
  let told = 0
  const listeners = { onRemoved: () => undefined, onClosed: () => void told++ }
  const opening = BridgeConnection.open(`${path}.gone`, 10_000, listeners)
  await expect(opening).rejects.toMatchObject({ code: 'daemon-unreachable' })
  // Whoever opens knows it: to be told as well would have him try again at once.
  await nextTurn()
  expect(told).toBe(0)
})
