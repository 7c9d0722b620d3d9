import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { machineOf } from '../cluster/lookup.ts'
import { ProgramError } from '../errors.ts'
import { findProcesses, processesOf } from './processes.ts'
import { componentTraits, type Component } from './component.ts'
import type { Cluster } from '../cluster/cluster.ts'

type DiskTarget = { readonly machine: string; readonly component: Component }

/** By which what a database has to say gets to its file, and to the disk. */
const calls = 'write,writev,pwrite64,fsync,fdatasync'

/**
 * Makes every write of a database to its file take so much longer, and every flush.
 *
 * strace(1) holds the calls up; limits of the block layer do not reach what the page cache takes. It lives in the process ids of the machine, so
 * that it is gone with it, and ends with the component: a successor is as fast as ever.
 */
export async function slowDisk(cluster: Cluster, target: DiskTarget, delayMs: number): Promise<void> {
  const machine = machineOf(cluster, target.machine)
  const pids = processesOf(cluster, target)
  const command = [
    ...['strace', '-f', '-o', '/dev/null', '-e', `trace=${calls}`],
    ...['-e', `inject=${calls}:delay_enter=${delayMs * 1000}`],
    ...pids.flatMap((pid) => filesOf(pid, target.component)).flatMap((file) => ['-P', file]),
    ...pids.flatMap((pid) => ['-p', String(idOnMachine(pid))]),
  ]
  const child = spawn('nsenter', ['--all', `--target=${machine.pid}`, '--', ...command], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // It says so when it has attached, and why when it has not.
  const [said] = (await once(child.stderr, 'data')) as [Buffer]
  if (!said.toString().includes('attached'))
    throw new ProgramError('a program failed', {
      command: command.join(' '),
      exitCode: child.exitCode ?? 1,
      output: said.toString(),
    })
  child.stderr.destroy()
  child.unref()
}

/** Lets writes take as long as they take. */
export function restoreDisk(cluster: Cluster, target: DiskTarget): void {
  const machine = machineOf(cluster, target.machine)
  const pids = findProcesses(machine, target.component).map((pid) => String(idOnMachine(pid)))
  for (const pid of tracers(machine.pid)) {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (words.some((word, index) => words[index - 1] === '-p' && pids.includes(word)))
      process.kill(pid, 'SIGTERM')
  }
}

/** What slows disks of a machine: started from outside, with the process ids of inside. */
function tracers(machinePid: number): readonly number[] {
  const own = readlinkSync(`/proc/${machinePid}/ns/pid`)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'strace' &&
          readlinkSync(`/proc/${pid}/ns/pid`) === own
        )
      } catch {
        return false
      }
    })
}

/** The files that a component writes to and has open, as it names them itself. */
function filesOf(pid: number, component: Component): readonly string[] {
  const { writes } = componentTraits[component]
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory)
    .map((fd) => readlinkSync(`${directory}/${fd}`))
    .filter((path) => writes?.test(path))
}

/** The id of a process as its machine sees it: ids are listed from the reader's namespace inwards. */
function idOnMachine(pid: number): number {
  const [, , inside] = /^NSpid:\s+(\d+)\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(inside)
}
