import { existsSync, readFileSync } from 'node:fs'

/** Memory of a process that is alone in its container, in MiB. */
export interface ContainerMemory {
  /**
   * The most that the kernel accounted to the control group: what Kubernetes shows, limits, and ends containers by. Pages of files are
   * accounted to the first who reads them, so those of Node to the first container of an image on a node.
   */
  readonly peak: number
  /** The most that was mapped, pages of files included that others map as well. */
  readonly resident: number
  /** What is nobody else's at present. */
  readonly anonymous: number
}

const mib = 1024 * 1024

export function containerMemory(pid: string | number): ContainerMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return {
    peak: Number(readFileSync(peakFile(pid), 'utf8')) / mib,
    resident: of('VmHWM'),
    anonymous: of('RssAnon'),
  }
}

/** @see cgroups(7): of the first version, each controller has a tree of its own */
function peakFile(pid: string | number): string {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  const ofFirst = /^\d+:memory:(.*)$/m.exec(groups)?.[1]
  const file =
    ofFirst === undefined
      ? `/sys/fs/cgroup${/^0::(.*)$/m.exec(groups)?.[1]}/memory.peak`
      : `/sys/fs/cgroup/memory${ofFirst}/memory.max_usage_in_bytes`
  if (existsSync(file)) return file
  throw new Error(
    `the memory of process ${pid} is accounted nowhere: ${file} is not there; mount its control group`,
  )
}
