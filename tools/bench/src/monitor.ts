import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ProcessAccounting } from '@kube-ovn/lab'
import {
  ovnNorthboundSchema,
  ovnSouthboundSchema,
  type OvnNorthbound,
  type OvnSouthbound,
} from '@kube-ovn/ovsdb-schema'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import { named, OvsdbClient } from 'ovsdb-client'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { processorSeconds } from './processor-time.ts'
import { percentile, rounded } from './statistics.ts'
import { within } from './within.ts'

const program = join(import.meta.dirname, '../../../dist/programs/monitor.mjs')
/** As the chart and the image start it. */
const asInTheChart = ['--optimize-for-size', '--max-semi-space-size=8']
const [switches, portsOfSwitch, scrapes] = [20, 500, 20] as const
const ports = switches * portsOfSwitch

/** Scrapes the released monitor, beside databases with many ports. */
export const monitor: Benchmark = {
  name: 'monitor',
  summary: `milliseconds of the slowest of ${scrapes} scrapes with ${ports} ports in Northbound and Southbound, processor time of one, forks, memory`,
  async run(): Promise<BenchmarkResult> {
    await using central = await startNorthbound({ southbound: true })
    console.log(`writing ${ports} ports`)
    await fill(central.address, central.southbound?.address ?? '')
    using accounting = new ProcessAccounting()
    await using subject = await startMonitor(central.root)
    const shown = /^kube_ovn_logical_switch_port_tunnel_key\{/gm
    await within(
      60_000,
      () => 'all ports are shown',
      (async () => {
        for (;;) if ([...(await subject.scrape()).matchAll(shown)].length === ports) return
      })(),
    )
    const times: number[] = []
    let bytes = 0
    const cpuBefore = processorSeconds(subject.pid)
    for (let index = 0; index < scrapes; index++) {
      const startedMs = performance.now()
      bytes = (await subject.scrape()).length
      times.push(performance.now() - startedMs)
    }
    const cpuSeconds = processorSeconds(subject.pid) - cpuBefore
    const children = accounting.ended().filter(({ parentPid }) => parentPid === subject.pid).length
    return {
      value: rounded(Math.max(...times)),
      unit: 'ms',
      p50: rounded(percentile(times, 0.5)),
      cpuMs: rounded((cpuSeconds * 1000) / scrapes),
      forks: children + subject.children(),
      mib: rounded(subject.peakMib()),
      pageMib: rounded(bytes / 1024 / 1024),
    }
  },
}

async function fill(northbound: string, southbound: string): Promise<void> {
  const common = { inactivityProbeMs: 0, tables: {} } as const
  await using nb = new OvsdbClient<OvnNorthbound>({
    ...{ ...common, endpoints: [northbound], schema: ovnNorthboundSchema },
  })
  await using sb = new OvsdbClient<OvnSouthbound>({
    ...{ ...common, endpoints: [southbound], schema: ovnSouthboundSchema },
  })
  await Promise.all([nb.connect(), sb.connect()])
  const [encap] = [named('encap')]
  const [chassis] = await sb.transact([
    sb.operations.insert('Chassis', { name: 'c1', hostname: 'node-1', encaps: [encap] }),
    sb.operations.insert('Encap', { type: 'geneve', ip: '10.0.0.1', chassis_name: 'c1' }, 'encap'),
  ])
  for (let index = 0; index < switches; index++) {
    const names = Array.from(
      { length: portsOfSwitch },
      (_, port) => `web-${index * portsOfSwitch + port}.shop`,
    )
    const [created] = await nb.transact([
      nb.operations.insert('Logical_Switch', {
        name: `subnet-${index}`,
        external_ids: { vendor: 'kube-ovn', owner: `subnet/subnet-${index}` },
        ports: names.map((_, port) => named(`port${port}`)),
      }),
      ...names.map((name, port) =>
        nb.operations.insert(
          'Logical_Switch_Port',
          {
            name,
            addresses: [
              `0a:00:00:00:${hex(index)}:${hex(port % 256)} 10.16.${index}.${port % 256} fd00::${hex(index)}:${port}`,
            ],
            up: true,
          },
          `port${port}`,
        ),
      ),
    ])
    await sb.transact([
      sb.operations.insert(
        'Datapath_Binding',
        {
          tunnel_key: index + 1,
          external_ids: { 'logical-switch': String(created?.uuid), name: `subnet-${index}` },
        },
        'datapath',
      ),
      ...names.map((name, port) =>
        sb.operations.insert('Port_Binding', {
          ...{ logical_port: name, datapath: named('datapath'), tunnel_key: port + 1 },
          chassis: String(chassis?.uuid),
        }),
      ),
    ])
  }
}

function hex(number: number): string {
  return number.toString(16).padStart(2, '0')
}

async function startMonitor(root: string) {
  const databases = [
    ['northbound', 'nb'],
    ['southbound', 'sb'],
  ].flatMap(([name, id]) => [
    `--database.${name}.socket.remote=unix:${root}/run/ovn/${id}.sock`,
    `--database.${name}.socket.control=unix:${root}/run/ovn/${id}.ctl`,
    `--database.${name}.file.data.path=${root}/var/lib/ovn/${id}.db`,
  ])
  const flags = ['--metrics-port=0', '--ovs.poll-interval=1', ...databases]
  const child = spawn(process.execPath, [...asInTheChart, program, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { NODE_NAME: 'node-1', POD_IPS: '127.0.0.1', ENABLE_BIND_LOCAL_IP: 'true', NODE_ENV: 'production' },
  })
  const pid = child.pid ?? 0
  const endpoint = await within(30_000, () => 'the monitor serves', endpointOf(child))
  return {
    pid,
    scrape: async () => (await fetch(`http://${endpoint}/metrics`)).text(),
    /** Those that have not ended. */
    children: () =>
      readdirSync(`/proc/${pid}/task`)
        .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
        .filter((one) => one !== '').length,
    peakMib: () =>
      Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** As its log says. */
async function endpointOf(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new TypeError('the monitor has no output')
  for await (const line of createInterface({ input: child.stderr })) {
    const [, endpoint] = /"endpoints":\["([^"]+)"/.exec(line) ?? []
    if (endpoint === undefined) continue
    // What comes later has to go somewhere.
    child.stderr.resume()
    return endpoint
  }
  throw new Error('the monitor has ended')
}
