import { recordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { startSilentServer } from '@kube-ovn/testing-ovsdb'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { command } from './config.ts'
import { missingForHangingDisk, openHangingDisk } from './hanging-disk.fixture.ts'
import { flagsOf } from './monitored-files.fixture.ts'
import { runMonitor } from './monitor.ts'

const patience = { timeout: 90_000, interval: 50 }
/** Longer than a page takes. */
const timeoutSeconds = 3
/** Northbound, Southbound, and the control sockets of their servers and of ovn-northd. */
const asked = 5
/** No server of names is asked for it: a label has 63 characters at most. */
const unfindable = 'a'.repeat(64)

let run: string
beforeEach(async () => (run = await mkdtemp(join(tmpdir(), 'monitored-'))))
afterEach(() => rm(run, { recursive: true }))

interface Started extends AsyncDisposable {
  readonly log: ReturnType<typeof recordingLogger>
  /** By HTTP, as Prometheus does. */
  read(): Promise<string>
}

async function start(flags: readonly string[] = [], disk = run): Promise<Started> {
  const common = flagsOf({ run, data: disk, logs: disk }, timeoutSeconds)
  const environment = { NODE_NAME: 'node-1', POD_IPS: '127.0.0.1', ENABLE_BIND_LOCAL_IP: 'true' }
  const parsed = readConfig(command, [...common, ...flags], environment)
  if (parsed.kind === 'help') throw new Error('no configuration')
  const [registry, log, stop] = [new Registry(), recordingLogger(), new AbortController()]
  const running = runMonitor(parsed.config, log, registry, stop.signal)
  await expect.poll(() => log.lines.map(({ message }) => message), patience).toContain('metrics served')
  const served = log.lines.find(({ message }) => message === 'metrics served')
  const [endpoint] = (served?.fields['endpoints'] ?? []) as readonly string[]
  return {
    log,
    read: async () => (await fetch(`http://${endpoint}/metrics`)).text(),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

function failuresOf(page: string): number {
  return Number(/^kube_ovn_failed_req_count\{.*\} (\d+)$/m.exec(page)?.[1] ?? 0)
}

/** After many questions: who is asked is told of once, and nothing is shown but that all of it is down. */
async function expectDown({ log, read }: Started, hasFiles = true): Promise<void> {
  await expect.poll(async () => failuresOf(await read()), patience).toBeGreaterThan(3 * asked)
  const startedMs = performance.now()
  const page = await read()
  expect(performance.now() - startedMs).toBeLessThan(timeoutSeconds * 1000)
  const shown = page
    .split('\n')
    .filter((line) => line !== '' && !/^#|^kube_ovn_failed_req_count/.test(line))
    .map((line) => line.replace(/hostname="node-1",/, ''))
  expect(shown.toSorted()).toEqual([
    'kube_ovn_db_status{db_name="OVN_Northbound"} 0',
    'kube_ovn_db_status{db_name="OVN_Southbound"} 0',
    `kube_ovn_monitor_source_up{source="files"} ${Number(hasFiles)}`,
    'kube_ovn_monitor_source_up{source="northbound"} 0',
    'kube_ovn_monitor_source_up{source="ovn-northd-control"} 0',
    'kube_ovn_monitor_source_up{source="ovsdb-server-northbound-control"} 0',
    'kube_ovn_monitor_source_up{source="ovsdb-server-southbound-control"} 0',
    'kube_ovn_monitor_source_up{source="southbound"} 0',
    'kube_ovn_ovn_status{component="ovn-northd"} 0',
    'kube_ovn_ovn_status{component="ovsdb-server-northbound"} 0',
    'kube_ovn_ovn_status{component="ovsdb-server-southbound"} 0',
  ])
  const told = log.lines.filter(({ level }) => level !== 'info')
  expect(told.map(({ message, fields }) => `${String(fields['source'])}: ${message}`).toSorted()).toEqual([
    ...(hasFiles ? [] : ['files: source does not answer']),
    'northbound: source does not answer',
    'ovn-northd-control: source does not answer',
    'ovsdb-server-northbound-control: source does not answer',
    'ovsdb-server-southbound-control: source does not answer',
    'southbound: source does not answer',
  ])
}

it('lives where there is nobody to ask, and where a name is not found', async () => {
  await using monitor = await start([`--database.northbound.socket.remote=tcp:${unfindable}:6641`])
  await expectDown(monitor)
})

it('lives where databases and daemons hang', async () => {
  await writeFile(join(run, 'ovn-northd.pid'), '1\n')
  await using stack = new AsyncDisposableStack()
  for (const name of ['nb.sock', 'nb.ctl', 'sb.sock', 'sb.ctl', 'ovn-northd.1.ctl'])
    stack.use(await startSilentServer(join(run, name)))
  await using monitor = await start()
  await expectDown(monitor)
})

it.skipIf(missingForHangingDisk)(
  `lives where the disk of the databases hangs${missingForHangingDisk === undefined ? '' : ` (${missingForHangingDisk})`}`,
  async () => {
    const disk = await openHangingDisk()
    await using monitor = await start([], disk.path)
    // It goes first: whoever waits for it does no longer then.
    await using _disk = disk
    await expectDown(monitor, false)
  },
)
