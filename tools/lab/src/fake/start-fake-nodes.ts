import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { nodeAnnotations } from '@kube-ovn/annotations'
import { ProgramError } from '../errors.ts'
import { findHelper } from '../helper-process.ts'
import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import { runAt } from '../namespaces.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LabNode } from '../cluster/node.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { databaseEndpoints } from './central.ts'
import { fakeNodeKey } from './fake-node.ts'
import type { FakeNodesOrder } from './fake-process.ts'

const program = join(import.meta.dirname, 'fake-process.ts')

/** The fake nodes of a cluster. */
export const fakeNodesPath = `/api/v1/nodes?labelSelector=${encodeURIComponent(fakeNodeKey)}`

interface NodeObject extends ApiObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly addresses?: readonly { readonly address: string }[]
  }
}

/**
 * Adds nodes that exist in the API and in the Southbound only, and waits until they are Ready, have their address in the pod
 * network, and are known to the other nodes.
 *
 * A process acts for them: it lives in the process ids and the network of the control machine, so that it outlives this one and is gone with the
 * lab.
 *
 * @throws {ProgramError} with what the process said, if it could not start
 */
export async function startFakeNodes(cluster: Cluster, count: number): Promise<void> {
  await startProcess(cluster, await writeOrder(cluster, count))
  const fakes = await waitForObjects<NodeObject, readonly NodeObject[]>(
    cluster.api,
    fakeNodesPath,
    `${count} fake nodes are Ready and have an address`,
    (nodes) => (nodes.length === count && nodes.every(isUsable) ? nodes : undefined),
    180_000,
  )
  const addresses = fakes.flatMap(({ status }) => status?.addresses ?? []).map(({ address }) => address)
  await Promise.all(cluster.nodes.map((node) => untilTakenIn(node, addresses)))
}

/** Waits until the packet filter of a node knows the addresses of other nodes, or what is seen there by then would differ later. */
async function untilTakenIn(node: LabNode, addresses: readonly string[]): Promise<void> {
  for (const [family, isOfFamily] of [
    [4, isIPv4],
    [6, isIPv6],
  ] as const) {
    const elements = addresses.filter(isOfFamily)
    if (elements.length === 0) continue
    const ask = ['get', 'element', 'inet', 'kube-ovn', `other-nodes-${family}`, `{ ${elements.join(', ')} }`]
    await eventually(
      `${node.name} knows ${elements.length} addresses of IPv${family} of fake nodes`,
      () =>
        runAt(node.place, ['nft', '-f', '-'], { input: ask.join(' ') }).then(
          () => true,
          () => undefined,
        ),
      { timeoutMs: 180_000, pauseMs: 500 },
    )
  }
}

/** Fake nodes that are Ready and have their address in the pod network. */
export async function countUsableFakeNodes(cluster: Cluster): Promise<number> {
  return (await cluster.api.list<NodeObject>(fakeNodesPath)).filter(isUsable).length
}

function isUsable({ metadata, status }: NodeObject): boolean {
  const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  return isReady === true && nodeAnnotations.allocated.read(metadata.annotations ?? {}) === true
}

async function startProcess(cluster: Cluster, order: string): Promise<void> {
  const logFile = join(cluster.directory, 'logs/control/fake-nodes.log')
  const log = openSync(logFile, 'a')
  const child = spawn(
    'nsenter',
    ['--net', '--pid', `--target=${cluster.control.pid}`, '--', process.execPath, program, order],
    { detached: true, stdio: ['ignore', 'pipe', log] },
  )
  closeSync(log)
  if (child.stdout === null) throw new TypeError('what is piped can be read')
  const isReady = await Promise.race([
    once(child.stdout, 'data').then(() => true),
    once(child, 'close').then(() => false),
  ])
  if (!isReady) {
    const output = readFileSync(logFile, 'utf8').slice(-4000)
    throw new ProgramError('a program failed', { command: program, exitCode: child.exitCode ?? 1, output })
  }
  child.stdout.destroy()
  child.unref()
}

/** Ends the process that acts for the fake nodes of a lab, if there is one. */
export function endProcess(cluster: Cluster): void {
  const pid = findHelper(orderFile(cluster))
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

function orderFile({ directory }: Cluster): string {
  return join(directory, 'fake-nodes.json')
}

async function writeOrder(cluster: Cluster, count: number): Promise<string> {
  const order: FakeNodesOrder = {
    kubeconfig: cluster.kubeconfig,
    southbound: await databaseEndpoints(cluster, 'southbound'),
    stack: cluster.topology.stack,
    nodes: count,
  }
  const file = orderFile(cluster)
  writeFileSync(file, JSON.stringify(order))
  return file
}
