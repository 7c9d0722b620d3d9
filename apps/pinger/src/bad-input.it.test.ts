import { recordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { startSilentNode } from './silent-node-fixture.ts'
import { command } from './config.ts'
import { runServer } from './pinger.ts'

const patience = { timeout: 90_000, interval: 50 }
/** Longer than a page takes. */
const timeoutSeconds = 3
/** No server of names is asked for it: a label has 63 characters at most. */
const unfindable = `${'a'.repeat(64)}.`
const common = ['--port=0', '--interval=1', `--ovs.timeout=${timeoutSeconds}`, `--internal-dns=${unfindable}`]
const environment = {
  NODE_NAME: 'node-1',
  HOST_IP: '127.0.0.1',
  POD_IPS: '127.0.0.1',
  POD_NAME: 'pinger-1',
  ENABLE_BIND_LOCAL_IP: 'true',
}
/** Questions of a round that get no answer: of the database and of two daemons. */
const unanswered = 3

/** What of a page, with the node's label left out. */
function valuesOf(page: string, pattern: RegExp): readonly string[] {
  return page
    .split('\n')
    .filter((line) => pattern.test(line))
    .map((line) => line.replace(/(nodeName|hostname)="node-1",?/, '').replace('{}', ''))
    .toSorted()
}

function failuresOf(page: string): number {
  return Number(/^kube_ovn_failed_req_count\{.*\} (\d+)$/m.exec(page)?.[1] ?? 0)
}

const ill = [
  'pinger_apiserver_healthy 1',
  'pinger_check_failed{check="apiserver"} 0',
  'pinger_check_failed{check="internal-dns"} 1',
  'pinger_check_failed{check="ovn-controller"} 1',
  'pinger_check_failed{check="ovs"} 1',
  'pinger_check_failed{check="port-bindings"} 1',
  'pinger_check_failed{check="targets"} 0',
  'pinger_internal_dns_unhealthy 1',
  'pinger_ovn_controller_down 1',
  'pinger_ovs_down 1',
]
const shownIll =
  /^pinger_(apiserver_healthy|check_failed|internal_dns_unhealthy|(ovs|ovn_controller)_down|inconsistent\w+)\{/
const down = [
  'kube_ovn_ovs_status{component="ovs-vswitchd"} 0',
  'kube_ovn_ovs_status{component="ovsdb-server"} 0',
]

it('lives with nobody to ask, a name that is not found, a database and daemons that hang, and says each once', async () => {
  await using node = await startSilentNode()
  const parsed = readConfig(command, [...common, ...node.flags], environment)
  if (parsed.kind === 'help') throw new Error('no configuration')
  const [registry, log, stop] = [new Registry(), recordingLogger(), new AbortController()]
  const running = runServer(parsed.config, log, registry, stop.signal)
  await expect.poll(() => log.lines.map(({ message }) => message), patience).toContain('metrics served')
  const served = log.lines.find(({ message }) => message === 'metrics served')
  const [endpoint] = (served?.fields['endpoints'] ?? []) as readonly string[]
  const read = async (): Promise<string> => (await fetch(`http://${endpoint}/metrics`)).text()

  // In the midst of a third round.
  await expect.poll(async () => failuresOf(await read()), patience).toBeGreaterThanOrEqual(2 * unanswered)
  const startedMs = performance.now()
  const page = await read()
  expect(performance.now() - startedMs).toBeLessThan(timeoutSeconds * 1000)
  expect(valuesOf(page, shownIll)).toEqual(ill)
  expect(valuesOf(page, /^kube_ovn_ovs_status\{/)).toEqual(down)
  expect(page).not.toMatch(/^kube_ovn_(ovs_info|datapath|dp_|interface)\w*\{/m)
  expect(page).not.toMatch(/^pinger_\w+_ping_\w+\{/m)

  stop.abort()
  await running
  const told = log.lines.filter(({ level }) => level !== 'info')
  const subjects = told.map(
    ({ message, fields }) => `${message}: ${String(fields['check'] ?? fields['source'])}`,
  )
  expect(subjects.toSorted()).toEqual([
    'check failed: internal-dns',
    'check failed: ovn-controller',
    'check failed: ovs',
    'check failed: port-bindings',
    'source does not answer: open-vswitch',
    'source does not answer: ovs-vswitchd-control',
    'source does not answer: ovsdb-server-control',
  ])
})

it('lives where it has no right to the sockets, and says each once', async () => {
  await using node = await startSilentNode({ isClosed: true })
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [main, ...common, ...node.flags], {
    ...{ uid: 65_534, gid: 65_534, env: environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await using _child = {
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  const endpoint = (): string | undefined => /"endpoints":\["([^"]+)"/.exec(lines.join('\n'))?.[1]
  await expect.poll(endpoint, patience).toBeDefined()
  const read = async (): Promise<string> => (await fetch(`http://${endpoint()}/metrics`)).text()
  // The sizes of files as well.
  await expect
    .poll(async () => failuresOf(await read()), patience)
    .toBeGreaterThanOrEqual(3 * (unanswered + 1))
  const page = await read()
  expect(valuesOf(page, shownIll)).toEqual(ill)
  expect(valuesOf(page, /^kube_ovn_ovs_status\{/)).toEqual(down)
  const told = lines.filter((line) => line.includes('EACCES'))
  const subjects = told.map((line) => {
    const { check, source } = JSON.parse(line) as { readonly check?: string; readonly source?: string }
    return check ?? source
  })
  expect(subjects.toSorted()).toEqual([
    ...['files', 'open-vswitch', 'ovn-controller', 'ovs', 'ovs-vswitchd-control', 'ovsdb-server-control'],
    'port-bindings',
  ])
})
