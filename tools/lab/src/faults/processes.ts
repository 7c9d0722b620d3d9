import { errorCode } from '@kube-ovn/errors'
import { readdirSync, readFileSync } from 'node:fs'
import { chartNamespace } from '../chart.ts'
import { holdDirectory } from '../cluster/shell-script.ts'
import { LabUsageError } from '../errors.ts'
import { eventually } from '../kubernetes/wait.ts'
import { isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import { runAt, insideContainer } from '../namespaces.ts'
import { componentTraits, type Component } from './component.ts'
import { machineOf } from '../cluster/lookup.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Container } from '../docker/container.ts'

type ComponentTarget = { readonly machine: string; readonly component: Component }

/**
 * The processes of a component on a machine, by their ids on the host.
 *
 * The cgroup tells the machine: pods of a machine, also those that share its process ids, are below the machine's own.
 */
export function findProcesses(container: Container, component: Component): readonly number[] {
  const { matches } = componentTraits[component]
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => matches(read(pid, 'cmdline').split('\0')) && read(pid, 'cgroup').includes(container.id))
}

/**
 * Sends a signal to every process of a component.
 *
 * @throws {LabUsageError} if there is none, naming the machines that have some
 */
export function signalComponent(cluster: Cluster, target: ComponentTarget, signal: NodeJS.Signals): void {
  for (const pid of processesOf(cluster, target)) send(pid, signal)
}

/**
 * The processes of a component that is to be broken.
 *
 * @throws {LabUsageError} if there is none, naming the machines that have some
 */
export function processesOf(cluster: Cluster, { component, machine }: ComponentTarget): readonly number[] {
  const pids = findProcesses(machineOf(cluster, machine), component)
  if (pids.length > 0) return pids
  const others = [{ name: 'control', container: cluster.control }, ...cluster.nodes]
    .filter(({ container }) => findProcesses(container, component).length > 0)
    .map(({ name }) => name)
  throw new LabUsageError('the component does not run there', {
    argument: `${component}@${machine}`,
    cure: others.length === 0 ? 'it runs nowhere now' : `a machine that it runs on now: ${others.join(', ')}`,
  })
}

/** Sends a signal to what runs of a component now, if anything does. */
export function signalWhatRuns(cluster: Cluster, target: ComponentTarget, signal: NodeJS.Signals): void {
  for (const pid of findProcesses(machineOf(cluster, target.machine), target.component)) send(pid, signal)
}

/** Ends a component by a signal and waits until its successor runs and, as far as that is known, serves. */
export async function endAndAwaitSuccessor(
  cluster: Cluster,
  target: ComponentTarget,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<void> {
  const before = findProcesses(machineOf(cluster, target.machine), target.component)
  signalComponent(cluster, target, signal)
  await untilRunning(cluster, target, before)
}

/** Waits until a component runs in a process that is not one of `before`, and serves. */
export async function untilRunning(
  cluster: Cluster,
  target: ComponentTarget,
  before: readonly number[],
): Promise<void> {
  const { app, daemon } = componentTraits[target.component]
  const name = `${target.component}@${target.machine}`
  await eventually(
    `${name} runs again`,
    () => {
      const now = findProcesses(machineOf(cluster, target.machine), target.component)
      return Promise.resolve(now.some((pid) => !before.includes(pid)) ? true : undefined)
    },
    { timeoutMs: 120_000 },
  )
  if (app !== undefined)
    await eventually(`the pod of ${name} is Ready`, () => isAppReady(cluster, app, target.machine), {
      timeoutMs: 120_000,
    })
  if (daemon === 'kube-apiserver' || daemon === 'etcd')
    await eventually(
      'the API server is ready',
      () => cluster.api.call<string>('GET', '/readyz').catch(() => undefined),
      { timeoutMs: 180_000 },
    )
}

async function isAppReady(cluster: Cluster, app: string, node: string): Promise<true | undefined> {
  // The API server may be what is broken.
  const pods = await listPods(cluster, app, node).catch(() => [])
  return pods.some(isPodReady) ? true : undefined
}

/** Deletes the pods of the product on a node that hold a component; others take their place. */
export async function deletePods(cluster: Cluster, app: string, node: string): Promise<void> {
  for (const { metadata } of await listPods(cluster, app, node))
    await cluster.api.delete({ apiVersion: 'v1', kind: 'Pod', metadata }, 0)
}

async function listPods(cluster: Cluster, app: string, node: string): Promise<readonly PodObject[]> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3D${app}`
  return (await cluster.api.list<PodObject>(path)).filter(({ spec }) => spec.nodeName === node)
}

/** Ends a daemon of the lab, waits until it has ended, and keeps it from being started again. */
export async function holdDaemon(cluster: Cluster, target: ComponentTarget): Promise<void> {
  const pids = processesOf(cluster, target)
  await keepFromStarting(cluster, target)
  for (const pid of pids) send(pid, 'SIGKILL')
  // Or else one that is on its way out would be taken for its successor when it is let start again at once.
  await eventually(`${target.component}@${target.machine} has ended`, () => {
    const now = findProcesses(machineOf(cluster, target.machine), target.component)
    return Promise.resolve(now.some((pid) => pids.includes(pid)) ? undefined : true)
  })
}

/** Lets a daemon of the lab be started again, and waits for it. */
export async function releaseDaemon(cluster: Cluster, target: ComponentTarget): Promise<void> {
  await letStart(cluster, target)
  await untilRunning(cluster, target, [])
}

/** Keeps a daemon of the lab from being started; of what belongs to pods kubelet decides. */
export async function keepFromStarting(cluster: Cluster, target: ComponentTarget): Promise<void> {
  await changeHold(cluster, target, ['touch'])
}

/** Lets a daemon of the lab be started again. */
export async function letStart(cluster: Cluster, target: ComponentTarget): Promise<void> {
  await changeHold(cluster, target, ['rm', '-f'])
}

async function changeHold(cluster: Cluster, { machine, component }: ComponentTarget, command: string[]) {
  const { daemon } = componentTraits[component]
  if (daemon === undefined) return
  await runAt(insideContainer(machineOf(cluster, machine)), [...command, `${holdDirectory}/${daemon}`])
}

/** A process that has ended meanwhile needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

function read(pid: number, file: 'cmdline' | 'cgroup'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Ends a process at once; one that has ended by itself meanwhile has ended. */
export function endProcess(pid: number): void {
  send(pid, 'SIGKILL')
}
