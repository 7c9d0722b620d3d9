import { machineOf } from '../cluster/lookup.ts'
import { quote } from '../cluster/shell-script.ts'
import { runProgram } from '../program.ts'
import { components, componentTraits, type Component } from './component.ts'
import {
  deletePods,
  findProcesses,
  keepFromStarting,
  letStart,
  signalWhatRuns,
  untilRunning,
} from './processes.ts'
import type { Cluster } from '../cluster/cluster.ts'

type DataTarget = { readonly machine: string; readonly component: Component }

/** Room on a file system of its own beside a component's data, before it is taken away. */
const roomBytes = 64 << 20

/** How much a directory takes, in the variable `used`. */
function measure(directory: string): string {
  return `used=$(du --summarize --block-size=1 ${quote(directory)} | cut -f 1)`
}

/**
 * Leaves no free block where a component keeps its data.
 *
 * The data moves to a small file system in memory first, which takes a restart of everything that uses it; then the file system shrinks to what
 * is in it. The machine's own disk, which others share, is never filled.
 */
export async function fillDisk(cluster: Cluster, target: DataTarget): Promise<void> {
  const directory = directoryOf(target)
  await whileFrozen(cluster, target, renderMove(directory))
  await shell(cluster, target, [
    `shrink() { mount -o "remount,size=$(df --block-size=1 --output=used ${quote(directory)} | tail -n 1)" ${quote(directory)}; }`,
    // Less than what somebody has written since it was asked for is refused.
    'for try in $(seq 20); do shrink 2>/dev/null && exit 0; done',
    'shrink',
  ])
}

/** Gives the room back, and then the disk that was there before, with what was written meanwhile; if that is there already, nothing. */
export async function emptyDisk(cluster: Cluster, target: DataTarget): Promise<void> {
  const directory = directoryOf(target)
  const kind = await shell(cluster, target, [`stat --file-system --format=%T ${quote(directory)} || true`])
  if (kind.trim() !== 'tmpfs') return
  await shell(cluster, target, [
    measure(directory),
    `mount -o "remount,size=$((used + ${roomBytes}))" ${quote(directory)}`,
  ])
  await whileFrozen(cluster, target, renderMoveBack(directory))
}

/**
 * Runs a script while nothing uses the data, then restarts what does, so that it opens its files anew.
 *
 * What has no room to write to may have ended, and be about to start again.
 */
async function whileFrozen(cluster: Cluster, target: DataTarget, script: readonly string[]): Promise<void> {
  const users = components
    .filter((component) => componentTraits[component].dataDirectory === directoryOf(target))
    .map((component) => ({ component, machine: target.machine }))
  const before = users.map((user) => findProcesses(machineOf(cluster, user.machine), user.component))
  for (const user of users) {
    await keepFromStarting(cluster, user)
    signalWhatRuns(cluster, user, 'SIGSTOP')
  }
  try {
    await shell(cluster, target, script)
  } catch (error) {
    for (const user of users) {
      signalWhatRuns(cluster, user, 'SIGCONT')
      await letStart(cluster, user)
    }
    throw error
  }
  // Of a container that ends often kubelet waits ever longer before it starts it again; a pod that is another one has no past.
  for (const app of new Set(users.map(({ component }) => componentTraits[component].app)))
    if (app !== undefined) await deletePods(cluster, app, target.machine)
  for (const user of users) {
    signalWhatRuns(cluster, user, 'SIGKILL')
    await letStart(cluster, user)
  }
  for (const [index, user] of users.entries()) await untilRunning(cluster, user, before[index] ?? [])
}

function renderMove(directory: string): string[] {
  const own = quote(directory)
  return [
    measure(directory),
    'new=$(mktemp -d)',
    `trap 'umount "$new"; rmdir "$new"' EXIT`,
    `mount -t tmpfs -o "size=$((used + ${roomBytes}))" tmpfs "$new"`,
    `cp -a ${own}/. "$new"/`,
    `mount --bind "$new" ${own}`,
  ]
}

function renderMoveBack(directory: string): string[] {
  const own = quote(directory)
  return [
    'root=$(mktemp -d)',
    // What a mount covers is seen through another mount of the same root.
    'mount --bind / "$root"',
    `find "$root"${own} -mindepth 1 -delete`,
    `cp -a ${own}/. "$root"${own}/`,
    'umount "$root"',
    'rmdir "$root"',
    // Containers that are about to be killed still hold it.
    `umount --lazy ${own}`,
  ]
}

/** With the process ids of the machine, too: umount(8) reads /proc/self. */
function shell(cluster: Cluster, { machine }: DataTarget, lines: readonly string[]): Promise<string> {
  const { pid } = machineOf(cluster, machine)
  return runProgram('nsenter', ['--all', `--target=${pid}`, '--', 'sh', '-ec', lines.join('\n')])
}

function directoryOf({ component }: DataTarget): string {
  return componentTraits[component].dataDirectory ?? ''
}
