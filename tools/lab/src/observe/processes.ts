import { readdirSync, readFileSync } from 'node:fs'

/** Ticks per second of the times in /proc/PID/stat; the same on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Places in /proc/PID/stat, counted after the command's name in parentheses (proc_pid_stat(5)). */
const places = { parent: 1, userTicks: 11, systemTicks: 12, startTicks: 19, residentPages: 21 } as const

const pageBytes = 4096

/** A process of this machine. */
export interface ObservedProcess {
  readonly pid: number
  readonly parentPid: number
  /** The command's name, at most 15 characters. */
  readonly command: string
  /** Processor time used so far. */
  readonly cpuSeconds: number
  readonly residentBytes: number
  readonly ageSeconds: number
}

/** Reads the processes whose cgroup is of the wanted kind, of all containers and pods of this machine. */
export function readProcesses(isWanted: (cgroup: string) => boolean): readonly ObservedProcess[] {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [cgroup, stat] = [readProcessFile(name, 'cgroup'), readProcessFile(name, 'stat')]
      return cgroup === undefined || stat === undefined || !isWanted(cgroup) ? [] : [parseStat(stat, uptime)]
    })
}

/** Reads /proc/PID/stat; the name may itself contain spaces and parentheses. */
export function parseStat(stat: string, uptimeSeconds: number): ObservedProcess {
  const nameEnd = stat.lastIndexOf(')')
  const fields = stat.slice(nameEnd + 2).split(' ')
  const field = (index: number): number => Number(fields[index] ?? 0)
  return {
    pid: Number.parseInt(stat, 10),
    parentPid: field(places.parent),
    command: stat.slice(stat.indexOf('(') + 1, nameEnd),
    cpuSeconds: (field(places.userTicks) + field(places.systemTicks)) / ticksPerSecond,
    residentBytes: field(places.residentPages) * pageBytes,
    ageSeconds: uptimeSeconds - field(places.startTicks) / ticksPerSecond,
  }
}

/** A process may be gone by the time it is looked at. */
function readProcessFile(pid: string, file: 'cgroup' | 'stat'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
