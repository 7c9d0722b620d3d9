import { recordingLogger } from '@kube-ovn/log'
import { Registry, Sources, vswitchMetrics } from '@kube-ovn/telemetry'
import { startOpenVswitch } from '@kube-ovn/testing-ovsdb'
import { expect, it } from 'vitest'
import { openVswitchAt } from './port-bindings.ts'
import { Vswitch } from './vswitch.ts'

/** Longer than a daemon takes that does not hang. */
const timeoutMs = 3000
const patience = { timeout: 90_000 }

it('shows daemons, data paths and interfaces of a real Open vSwitch, and forgets what is gone', async () => {
  await using node = await startOpenVswitch({ vswitchd: true })
  await using local = openVswitchAt(node.address, timeoutMs)
  const log = recordingLogger()
  const vswitch = new Vswitch({
    nodeName: 'node-1',
    local,
    timeoutMs,
    sources: new Sources(log),
    server: { pid: `${node.root}/run/ovn/ovs.pid`, log: `${node.root}/var/log/ovn/ovs.log` },
    vswitchd: {
      pid: `${node.root}/run/openvswitch/ovs-vswitchd.pid`,
      log: `${node.root}/var/log/openvswitch/ovs-vswitchd.log`,
    },
    databaseFile: `${node.root}/var/lib/ovn/ovs.db`,
  })
  const registry = new Registry()
  vswitchMetrics(registry, () => vswitch.reading)
  const page = async (): Promise<string> => {
    await vswitch.look()
    return registry.metrics()
  }

  await node.vsctl(
    ...['set', 'Open_vSwitch', '.', 'external_ids:hostname=node-9', 'external_ids:system-id=c1', '--'],
    ...['add-br', 'br-int', '--', 'set', 'Bridge', 'br-int', 'datapath_type=dummy', '--'],
    ...['add-port', 'br-int', 'p1', '--', 'set', 'Interface', 'p1', 'type=dummy'],
    ...['external_ids:pod_name=web-0', 'external_ids:pod_namespace=shop', '--'],
    ...['add-port', 'br-int', 't1', '--', 'set', 'Interface', 't1', 'type=geneve'],
    ...['options:remote_ip=flow', 'options:key=flow'],
  )
  await expect
    .poll(page, patience)
    .toMatch(/kube_ovn_dp_if\{.*port="genev_sys_6081",type="geneve",ofPort="6081"\} 1/)
  // One that no flow is known for, and one that finds the flow of the first.
  const packet = 'in_port(1),eth(src=50:54:00:00:00:01,dst=50:54:00:00:00:02),eth_type(0x1234)'
  for (const _ of [1, 2]) await node.appctl('netdev-dummy/receive', 'p1', packet)
  const of = 'hostname="node-9"'
  await expect.poll(page, patience).toContain(`kube_ovn_dp_flows_lookup_hit{${of},datapath="ovs-dummy"} 1\n`)
  // Threads add up what they counted now and then.
  await expect.poll(page, patience).toContain(`kube_ovn_ovs_coverage_events{${of},event="xlate_actions"} `)
  const vswitchdIsUp = `kube_ovn_ovs_status{${of},component="ovs-vswitchd"} 1`
  const pod = 'interfaceName="p1",pod_name="web-0",pod_namespace="shop"'
  const has = [
    `kube_ovn_ovs_status{${of},component="ovsdb-server"} 1`,
    vswitchdIsUp,
    `kube_ovn_ovs_info{${of},system_id="c1",`,
    `kube_ovn_datapath{${of},datapath="ovs-dummy",type="dummy"} 1`,
    `kube_ovn_dp_total{${of}} 1`,
    `kube_ovn_dp_if_total{${of},datapath="ovs-dummy"} 4`,
    `kube_ovn_dp_flows_lookup_missed{${of},datapath="ovs-dummy"} 1`,
    `kube_ovn_interface_admin_state{${of},interfaceName="p1"} 1`,
    `kube_ovn_interface_mtu{${of},interfaceName="p1"} 1500`,
    `kube_ovn_interface_of_port{${of},interfaceName="p1"} `,
    `kube_ovn_interface_rx_packets{${of},${pod}} `,
  ]
  // On a busy machine a daemon may take longer than that for once.
  let seen = ''
  await expect
    .poll(async () => {
      seen = await page()
      return has.filter((line) => !seen.includes(line))
    }, patience)
    .toEqual([])
  expect(seen).toContain(`kube_ovn_failed_req_count{${of}} ${vswitch.reading.failedRequests}\n`)
  expect(seen).toMatch(/kube_ovn_interface\{hostname="node-9",uuid="[^"]{36}",interfaceName="p1"\} 1/)
  expect(seen).toMatch(/kube_ovn_interface_mac_in_use\{.*interfaceName="p1",mac_address="[0-9a-f:]{17}"\} 1/)
  expect(seen).toMatch(/kube_ovn_log_file_size_bytes\{.*component="ovs-vswitchd",filename="[^"]+"\} [1-9]/)
  expect(seen).toMatch(/kube_ovn_db_file_size_bytes\{.*db_name="OVS_DB"\} [1-9]/)
  expect(seen).toMatch(/kube_ovn_daemon_memory\{.*component="ovs-vswitchd",kind="ports"\} \d/)
  expect(seen).not.toContain('event="util_xalloc"')

  await node.vsctl('del-port', 'br-int', 'p1')
  await expect
    .poll(page, patience)
    .toSatisfy((text: string) => !text.includes('interfaceName="p1"') && text.includes(vswitchdIsUp))
  const { failedRequests } = vswitch.reading
  const told = log.lines.length
  await node.script('kill -STOP $(cat /run/openvswitch/ovs-vswitchd.pid)')
  let hung = ''
  await expect
    .poll(async () => (hung = await page()), patience)
    .toContain(`kube_ovn_ovs_status{${of},component="ovsdb-server"} 1`)
  expect(hung).toContain(`kube_ovn_ovs_status{${of},component="ovs-vswitchd"} 0`)
  expect(vswitch.reading.failedRequests).toBeGreaterThan(failedRequests)
  expect(hung).toContain(`kube_ovn_failed_req_count{${of}} ${vswitch.reading.failedRequests}\n`)
  expect(hung).not.toContain('kube_ovn_dp_if{')
  await page()
  const lines = log.lines.slice(told).filter(({ fields }) => fields['source'] === 'ovs-vswitchd-control')
  expect(lines.map(({ level }) => level)).toEqual(['warn'])
  await node.script('kill -CONT $(cat /run/openvswitch/ovs-vswitchd.pid)')
  await expect.poll(page, patience).toContain('kube_ovn_dp_if{')
})
