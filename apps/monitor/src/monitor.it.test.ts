import { recordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { NorthboundCluster, startNorthbound } from '@kube-ovn/testing-ovsdb'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { command } from './config.ts'
import { flagsOf } from './monitored-files.fixture.ts'
import { runMonitor } from './monitor.ts'

const patience = { timeout: 90_000, interval: 50 }
/** Longer than anything takes to answer that does not hang. */
const timeoutSeconds = 5

interface Started extends AsyncDisposable {
  scrape(): Promise<string>
  readonly log: ReturnType<typeof recordingLogger>
}

/** Flags for a node whose files are those below `root`. */
function flagsFor(root: string): readonly string[] {
  const files = { run: `${root}/run/ovn`, data: `${root}/var/lib/ovn`, logs: `${root}/var/log/ovn` }
  return flagsOf(files, timeoutSeconds)
}

function start(root: string, ...flags: readonly string[]): Started {
  const parsed = readConfig(command, [...flagsFor(root), ...flags], { NODE_NAME: 'node-1' })
  if (parsed.kind === 'help') throw new Error('no configuration')
  const [registry, log, stop] = [new Registry(), recordingLogger(), new AbortController()]
  const running = runMonitor(parsed.config, log, registry, stop.signal)
  return {
    scrape: () => registry.metrics(),
    log,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** Whose lines tell that somebody does not answer, or does again. */
function told({ log }: Started): readonly unknown[] {
  return log.lines
    .filter(({ message }) => message.startsWith('source'))
    .map(({ message, fields }) => `${String(fields?.['source'])} ${message}`)
}

it('shows databases, ovn-northd and what is in them, and forgets what is gone', async () => {
  await using central = await startNorthbound({ northd: true })
  await central.sbctl(
    'chassis-add',
    'c1',
    'geneve,vxlan',
    '10.0.0.1',
    '--',
    'set',
    'Chassis',
    'c1',
    'hostname=node-9',
  )
  await central.nbctl(
    ...['ls-add', 'blue', '--', 'set', 'Logical_Switch', 'blue', 'external_ids:vendor=kube-ovn', '--'],
    ...[
      'lsp-add',
      'blue',
      'web',
      '--',
      'lsp-set-addresses',
      'web',
      '0a:00:00:00:00:01 10.16.0.2 fd00::2',
      '--',
    ],
    ...['lr-add', 'vpc', '--', 'lrp-add', 'vpc', 'vpc-blue', '0a:00:00:00:00:02', '10.16.0.1/16', '--'],
    ...['lsp-add', 'blue', 'blue-vpc', '--', 'lsp-set-type', 'blue-vpc', 'router', '--'],
    ...['lsp-set-addresses', 'blue-vpc', 'router', '--'],
    ...['lsp-set-options', 'blue-vpc', 'router-port=vpc-blue'],
  )
  await central.nbctl('--wait=sb', 'sync')
  await using monitor = start(central.root)
  const seen = (): Promise<string> => monitor.scrape()
  const has = [
    'kube_ovn_ovn_status{hostname="node-1",component="ovn-northd"} 1',
    'kube_ovn_ovn_status{hostname="node-1",component="ovsdb-server-northbound"} 1',
    'kube_ovn_ovn_status{hostname="node-1",component="ovsdb-server-southbound"} 1',
    'kube_ovn_db_status{hostname="node-1",db_name="OVN_Northbound"} 1',
    'kube_ovn_db_status{hostname="node-1",db_name="OVN_Southbound"} 1',
    'kube_ovn_cluster_enabled{hostname="node-1",db_name="OVN_Northbound"} 0',
    'kube_ovn_failed_req_count{hostname="node-1"} 0',
    'kube_ovn_logical_objects{hostname="node-1",db_name="OVN_Northbound",table="Logical_Switch_Port"} 2',
    'kube_ovn_logical_objects{hostname="node-1",db_name="OVN_Southbound",table="Chassis"} 1',
    'kube_ovn_monitor_source_up{hostname="node-1",source="files"} 1',
    'kube_ovn_inconsistent_objects{hostname="node-1",kind="port-without-binding"} 0',
    'kube_ovn_inconsistent_seconds{hostname="node-1",kind="port-without-binding"} 0',
  ]
  const lacking = async (): Promise<readonly string[]> => {
    const page = await seen()
    return has.filter((line) => !page.includes(line))
  }
  await expect.poll(lacking, patience).toEqual([])
  const page = await seen()
  expect(page).toMatch(/kube_ovn_db_file_size_bytes\{hostname="node-1",db_name="OVN_Southbound"\} [1-9]/)
  expect(page).toMatch(
    /kube_ovn_log_file_size_bytes\{hostname="node-1",component="ovn-northd",filename="[^"]+"\} [1-9]/,
  )
  expect(page).toMatch(/kube_ovn_chassis_info\{hostname="node-9",uuid="[^"]+",name="c1",ip="10.0.0.1"\} 1/)
  expect(page).toMatch(/kube_ovn_daemon_memory\{hostname="node-1",component="ovn-northd",kind="[^"]+"\} \d/)
  expect(page).toMatch(
    /kube_ovn_logical_switch_external_id\{.*key="vendor",value="kube-ovn",logical_switch_name="blue"\} 1/,
  )
  expect(page).toMatch(/kube_ovn_logical_switch_tunnel_key\{.*logical_switch_name="blue"\} [1-9]/)
  expect(page).toMatch(
    /kube_ovn_logical_switch_port_info\{.*name="web",chassis="",logical_switch_name="blue",datapath="[^"]{36}",port_binding="[^"]{36}",mac_address="0a:00:00:00:00:01",ip_address="10.16.0.2 fd00::2"\} 1/,
  )
  expect(page).toMatch(/kube_ovn_logical_switch_port_tunnel_key\{.*port_name="web"\} [1-9]/)
  const odd = [...page.matchAll(/^kube_ovn_inconsistent_objects.*kind="([^"]+)"\} (\d+)$/gm)]
  expect(odd.map(([, kind, count]) => [kind, count])).toEqual([
    ['switch-without-datapath', '0'],
    ['router-without-datapath', '0'],
    ['datapath-without-owner', '0'],
    ['port-without-binding', '0'],
    ['binding-without-port', '0'],
    ['up-without-chassis', '0'],
    ['chassis-behind', '0'],
  ])
  await central.nbctl('lsp-del', 'web')
  await expect.poll(seen, patience).not.toContain('name="web"')
  expect(told(monitor)).toEqual([])
})

it('tells a database that hangs from one that answers, in one line, and keeps nobody waiting', async () => {
  await using central = await startNorthbound({ southbound: true })
  await central.nbctl('ls-add', 'blue')
  // Nobody waits for the next look.
  await using monitor = start(central.root, '--enable-port-metrics=false', '--ovs.poll-interval=3600')
  await expect.poll(() => monitor.scrape(), patience).toContain('switch-without-datapath"} 1')
  // It is the same one in each page.
  await expect
    .poll(() => monitor.scrape(), patience)
    .toMatch(/kube_ovn_inconsistent_seconds\{.*kind="switch-without-datapath"\} [1-9]/)
  const northd = 'kube_ovn_ovn_status{hostname="node-1",component="ovn-northd"} 0'
  await expect.poll(() => monitor.scrape(), patience).toContain(northd)

  await central.server.freeze()
  const status = 'component="ovsdb-server-northbound"}'
  await expect.poll(() => monitor.scrape(), patience).toContain(`${status} 0`)
  await expect.poll(() => monitor.scrape(), patience).toContain('source="northbound"} 0')
  const startedMs = performance.now()
  const page = await monitor.scrape()
  expect(performance.now() - startedMs).toBeLessThan(timeoutSeconds * 1000)
  expect(page).toContain('kube_ovn_db_status{hostname="node-1",db_name="OVN_Northbound"} 0')
  expect(page).toContain('kube_ovn_db_status{hostname="node-1",db_name="OVN_Southbound"} 1')
  expect(page).not.toContain('kube_ovn_logical_switch_info{')
  expect(page).not.toContain('kube_ovn_inconsistent_objects{')
  expect(page).toContain('db_name="OVN_Southbound",table="Chassis"} 0')

  await central.server.thaw()
  await expect.poll(() => monitor.scrape(), patience).toContain('kube_ovn_logical_switch_info{')
  await expect.poll(() => monitor.scrape(), patience).toContain(`${status} 1`)
  expect(told(monitor).toSorted()).toEqual([
    'northbound source answers again',
    'northbound source does not answer',
    'ovn-northd-control source does not answer',
    'ovsdb-server-northbound-control source answers again',
    'ovsdb-server-northbound-control source does not answer',
  ])
})

it('lives where it has no right to the sockets, and says so', async () => {
  await using central = await startNorthbound({ southbound: true })
  const nobody = {
    uid: 65_534,
    gid: 65_534,
    env: { NODE_NAME: 'node-1', POD_IPS: '127.0.0.1', ENABLE_BIND_LOCAL_IP: 'true' },
  }
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [main, ...flagsFor(central.root)], {
    ...nobody,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await using _child = {
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  await expect.poll(() => lines.filter((line) => line.includes('EACCES')).length, patience).toBeGreaterThan(4)
  const [, endpoint] = /"endpoints":\["([^"]+)"/.exec(lines.join('\n')) ?? []
  const failures = async (): Promise<number> => {
    const page = await (await fetch(`http://${endpoint}/metrics`)).text()
    expect(page).toContain('kube_ovn_ovn_status{hostname="node-1",component="ovsdb-server-northbound"} 0')
    expect(page).toContain('kube_ovn_monitor_source_up{hostname="node-1",source="northbound"} 0')
    return Number(/kube_ovn_failed_req_count\{hostname="node-1"\} (\d+)/.exec(page)?.[1])
  }
  const before = await failures()
  await expect.poll(failures, patience).toBeGreaterThan(before + 5)
  const complaints = lines.filter((line) => line.includes('source does not answer'))
  const sources = complaints.map((line) => (JSON.parse(line) as { readonly source: string }).source)
  expect(sources.toSorted()).toEqual([
    'files',
    'northbound',
    'ovn-northd-control',
    'ovsdb-server-northbound-control',
    'ovsdb-server-southbound-control',
    'southbound',
  ])
})

it('shows what members of a cluster know of each other, and who has left', async () => {
  await using cluster = await NorthboundCluster.start()
  // Nobody becomes the leader but who is, however busy the machine is.
  await cluster.setElectionTimer(16_000)
  const leader = await cluster.leader()
  const [follower, other] = cluster.except(leader)
  if (follower === undefined || other === undefined) throw new Error('a cluster has three members')
  await using ofLeader = start(leader.root)
  await using ofFollower = start(follower.root)
  const sample = async (name: string, from = ofLeader): Promise<readonly string[]> =>
    [...(await from.scrape()).matchAll(new RegExp(`^kube_ovn_${name}\\{(.*)$`, 'gm'))].map(
      ([, rest = '']) => rest,
    )
  const values = async (name: string, from = ofLeader): Promise<readonly string[]> =>
    (await sample(name, from)).map((rest) => rest.replace(/^.*\} /, ''))
  await expect.poll(() => values('cluster_peer_match_index'), patience).toHaveLength(2)
  expect(await values('cluster_enabled')).toEqual(['1'])
  expect(await values('cluster_peer_count')).toEqual(['2'])
  expect(await values('cluster_leader_self')).toEqual(['1'])
  expect(await values('cluster_inbound_peer_connected')).toEqual(['1', '1'])
  expect(await values('cluster_outbound_peer_connected')).toEqual(['1', '1'])
  expect(await values('cluster_peer_next_index')).toHaveLength(2)
  expect(await sample('cluster_role')).toEqual([expect.stringContaining('server_role="leader"')])
  expect((await sample('cluster_outbound_peer_connected')).join()).toContain(
    `peer_address="tcp:${follower.ip}:`,
  )
  for (const name of [
    'cluster_term',
    'cluster_election_timer',
    'cluster_log_index_next',
    'cluster_next_index',
    'cluster_match_index',
  ])
    expect(Number((await values(name))[0])).toBeGreaterThan(0)
  const content = await sample('ovn_status_content')

  await expect.poll(() => values('cluster_leader_self', ofFollower), patience).toEqual(['0'])
  expect(await values('cluster_leader_known', ofFollower)).toEqual(['1'])
  expect(await sample('cluster_role', ofFollower)).toEqual([
    expect.stringContaining('server_role="follower"'),
  ])
  expect(await values('cluster_peer_match_index', ofFollower)).toEqual([])
  expect(await ofFollower.scrape()).toContain('component="ovsdb-server-northbound"} 2')

  // Its connections stay open, as those of a machine without power do.
  await other.server.freeze()
  await expect.poll(() => values('cluster_outbound_connections_error_total'), patience).toEqual(['1'])
  expect(await values('cluster_outbound_peer_connected')).toEqual(['1'])
  await other.server.thaw()
  await expect.poll(() => values('cluster_outbound_peer_connected'), patience).toEqual(['1', '1'])

  await other.server.kill()
  await expect.poll(() => values('cluster_inbound_peer_connected'), patience).toEqual(['1'])
  expect(Number((await values('cluster_disconnections'))[0])).toBeGreaterThan(0)
  // It does not change from one look to the next.
  expect(await sample('ovn_status_content')).toEqual(content)

  // One of three leads nobody, and knows of nobody who does.
  expect(await values('cluster_leader_known')).toEqual(['1'])
  await follower.server.kill()
  await expect.poll(() => values('cluster_leader_known'), patience).toEqual(['0'])
})
