import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Ticks per second of the times in /proc/PID/stat; the same on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Places of the user and system time in /proc/PID/stat, counted after the command's name (proc_pid_stat(5)). */
const [userTicks, systemTicks] = [11, 12]

/**
 * What a process has had of the processors, whoever else wants them, in seconds.
 *
 * @param root of the machine that it has this number on
 * @throws when it does not run any more
 */
export function processorSeconds(pid: string | number, root = '/'): number {
  const stat = readFileSync(join(root, 'proc', String(pid), 'stat'), 'utf8')
  // The name may have spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[userTicks]) + Number(fields[systemTicks])) / ticksPerSecond
}
