import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressesOf, apiPort } from '../cluster/topology.ts'
import { ProgramError } from '../errors.ts'
import { findHelper } from '../helper-process.ts'
import { insideContainer, runAt, tryAt } from '../namespaces.ts'
import type { ApiFault } from '@kube-ovn/testing-kube'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiProxyOrder } from './api-proxy-process.ts'

/** Where the proxy listens on the control machine. */
const proxyPort = 16443
const table = 'lab_fault_api'
const program = join(import.meta.dirname, 'api-proxy-process.ts')

/**
 * Puts a proxy that misbehaves in the way of everybody who calls the API server from another machine of the lab. Connections that there are
 * end. The components of the control machine itself, and this process, still reach the server.
 *
 * The proxy lives in the process ids and the network of the control machine, so that it is gone with it.
 */
export async function misbehave(cluster: Cluster, faults: readonly ApiFault[]): Promise<void> {
  writeOrder(cluster, faults)
  const child = spawn(
    'nsenter',
    [
      '--net',
      '--pid',
      `--target=${cluster.control.pid}`,
      '--',
      process.execPath,
      program,
      orderFile(cluster),
    ],
    { detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [first] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => ['']),
  ])) as [Buffer | '']
  if (first === '')
    throw new ProgramError('a program failed', { command: program, exitCode: child.exitCode ?? 1, output })
  child.stdout.destroy()
  child.stderr.destroy()
  child.unref()
  await runAt(insideContainer(cluster.control), ['nft', '-f', '-'], {
    input: renderRedirect(Object.values(addressesOf(cluster.blocks, 'kubernetes', 1))),
  })
}

/** Takes the proxy away. */
export async function behave(cluster: Cluster): Promise<void> {
  await tryAt(insideContainer(cluster.control), ['nft', 'delete', 'table', 'inet', table])
  const pid = findProxy(cluster)
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
  rmSync(orderFile(cluster), { force: true })
}

/**
 * Rules that lead what is for the server to the proxy, but for what comes from these addresses.
 *
 * What still arrives under the server's port belongs to an older connection.
 */
export function renderRedirect(exempt: readonly string[]): string {
  const spared = exempt.map(
    (address) => `    ${address.includes(':') ? 'ip6' : 'ip'} saddr ${address} accept`,
  )
  return [
    `table inet ${table} {`,
    '  chain lead {',
    '    type nat hook prerouting priority dstnat',
    ...spared,
    `    tcp dport ${apiPort} redirect to :${proxyPort}`,
    '  }',
    '  chain cut {',
    '    type filter hook input priority 0',
    '    iif "lo" accept',
    ...spared,
    `    tcp dport ${apiPort} reject with tcp reset`,
    '  }',
    '}',
    '',
  ].join('\n')
}

function writeOrder(cluster: Cluster, faults: readonly ApiFault[]): void {
  const read = (file: string): string => readFileSync(join(cluster.directory, 'pki', file), 'utf8')
  const pair = (name: string) => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) })
  const order: ApiProxyOrder = {
    options: {
      host: '127.0.0.1',
      port: apiPort,
      ca: read('ca.crt'),
      server: pair('apiserver'),
      frontProxy: pair('front-proxy'),
      listenHost: '::',
      listenPort: proxyPort,
    },
    faults,
  }
  writeFileSync(orderFile(cluster), JSON.stringify(order), { mode: 0o600 })
}

function orderFile({ directory }: Cluster): string {
  return join(directory, 'api-proxy.json')
}

/** The proxy of this lab. */
function findProxy(cluster: Cluster): number | undefined {
  return findHelper(orderFile(cluster))
}
