import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { LabUsageError } from './errors.ts'
import { runProgram, startProgram, tryProgram, type ProgramOptions, type ProgramResult } from './program.ts'
import type { Container } from './docker/container.ts'
import type { ChildProcess } from 'node:child_process'

/**
 * Where a program runs: the files of a container, and the network of the same container or of a pod inside it.
 *
 * Entering namespaces from the host takes 5 ms; `docker exec` takes 80 and `kubectl exec` 150.
 */
export interface Place {
  /** Whose files, processes and host name it sees; a process id of the host. */
  readonly machinePid: number
  /** Whose network it uses; a process id of the host. */
  readonly networkPid: number
}

/** The container as it sees itself. */
export function insideContainer(container: Container): Place {
  return { machinePid: container.pid, networkPid: container.pid }
}

/**
 * The network of a pod with the programs of its node, so that a probe needs nothing from the pod's image.
 *
 * @returns undefined if no process of the pod runs on this machine
 */
export function insidePodNetwork(node: Container, podUid: string): Place | undefined {
  const [networkPid] = podProcesses(podUid)
  return networkPid === undefined ? undefined : { machinePid: node.pid, networkPid }
}

/**
 * A container of a pod, with its own files.
 *
 * @param program that runs in it, which tells it apart from the pod's other containers
 */
export function insidePodContainer(podUid: string, program: string): Place | undefined {
  const pid = podProcesses(podUid).find((candidate) => readProcessFile(candidate, 'comm').trim() === program)
  return pid === undefined ? undefined : { machinePid: pid, networkPid: pid }
}

/**
 * Processes whose cgroup is the pod's, oldest first; kubelet's cgroupfs driver names it `pod<uid>`.
 *
 * The oldest is the sandbox, which stays. Ids do not tell: they start again from the bottom when they have reached the top, and a server
 * that forks for a request has children that are gone at once.
 */
export function podProcesses(podUid: string): number[] {
  const wanted = `/pod${podUid}/`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readProcessFile(pid, 'cgroup').includes(wanted))
    .map((pid) => ({ pid, startedAt: startOf(pid) }))
    .sort((a, b) => a.startedAt - b.startedAt)
    .map(({ pid }) => pid)
}

/** When a process started, in clock ticks since boot: field 22 of proc_pid_stat(5), the 20th after the name in parentheses. */
function startOf(pid: number): number {
  const stat = readProcessFile(pid, 'stat')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[19] ?? Number.MAX_SAFE_INTEGER)
}

function readProcessFile(pid: number, file: 'cgroup' | 'comm' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Kills the processes of a program at a place, whatever they do.
 *
 * What is run at a place has the host's process ids: `pkill` there would kill others, which have the same ids outside.
 *
 * @throws {LabUsageError} if there is none
 */
export function killAt(place: Place, program: string): void {
  const own = processNamespace(place.machinePid)
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => processNamespace(pid) === own && readProcessFile(pid, 'comm').trim() === program)
  if (pids.length === 0)
    throw new LabUsageError('the program does not run there', {
      argument: program,
      cure: 'wait until it does, or name another one',
    })
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

/** The namespace of its ids; `undefined` once it is gone. */
function processNamespace(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}

/** The path of a place's network namespace, as setns takes it. */
export function namespaceOf({ networkPid }: Place): string {
  return `/proc/${networkPid}/ns/net`
}

/** Runs a program at a place and returns its standard output. */
export function runAt(place: Place, command: readonly string[], options?: ProgramOptions): Promise<string> {
  return runProgram('nsenter', enterArguments(place, command), withDebianPath(options))
}

/** Runs a program at a place, whatever it exits with. */
export function tryAt(
  place: Place,
  command: readonly string[],
  options?: ProgramOptions,
): Promise<ProgramResult> {
  return tryProgram('nsenter', enterArguments(place, command), withDebianPath(options))
}

/** Starts a program at a place whose output is read while it runs. */
export function startAt(place: Place, command: readonly string[]): ChildProcess {
  return startProgram('nsenter', enterArguments(place, command))
}

function enterArguments(place: Place, command: readonly string[]): string[] {
  const machine = ['mnt', 'uts', 'ipc'].map(
    (kind) => `--${namespaceOption(kind)}=/proc/${place.machinePid}/ns/${kind}`,
  )
  return [...machine, `--net=/proc/${place.networkPid}/ns/net`, '--', ...command]
}

function namespaceOption(kind: string): string {
  return kind === 'mnt' ? 'mount' : kind
}

function withDebianPath(options: ProgramOptions = {}): ProgramOptions {
  return {
    ...options,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...options.env },
  }
}
