import { createHash } from 'node:crypto'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findLab, openCluster, removeLab, type Cluster, type Snapshot } from '@kube-ovn/lab'
import { inject } from 'vitest'
import type { LabOwner } from './lab-owner.ts'

/** A lab with the chart, and what was there when it was ready. */
export interface ReadyLab {
  readonly cluster: Cluster
  readonly before: Snapshot
}

/** How a free lab is noted, in a file that is called after what was asked for and its id. */
interface FreeLab {
  readonly id: string
  readonly before: readonly (readonly [string, readonly string[]])[]
}

const freeSuffix = '.free'

/** Who holds the labs of this run. */
export function labOwner(): LabOwner {
  return inject('labOwner')
}

/**
 * Takes a lab that was asked for in the same words and is as it was when it was ready; nothing if none is free.
 *
 * Whoever renames its file has it: suites of several files ask at once.
 */
export async function takeFreeLab(wanted: object): Promise<ReadyLab | undefined> {
  for (const name of await listFree()) {
    if (!name.startsWith(prefixOf(wanted))) continue
    const free = await take(name)
    if (free === undefined) continue
    const cluster = await openCluster(await findLab(free.id))
    return { cluster, before: new Map(free.before) }
  }
  return undefined
}

/** Leaves a lab to whoever asks for such a one next. */
export async function leaveFree(wanted: object, { cluster, before }: ReadyLab): Promise<void> {
  const { id } = cluster.topology
  const path = join(labOwner().directory, `${prefixOf(wanted)}${id}`)
  await writeFile(path, JSON.stringify({ id, before: [...before] } satisfies FreeLab))
  await rename(path, `${path}${freeSuffix}`)
  cluster.api[Symbol.dispose]()
}

/** Removes the labs that nobody has: the machine is for those that are used. */
export async function removeFreeLabs(): Promise<void> {
  for (const name of await listFree()) {
    const free = await take(name)
    if (free !== undefined) await removeLab(free.id)
  }
}

async function listFree(): Promise<readonly string[]> {
  return (await readdir(labOwner().directory)).filter((name) => name.endsWith(freeSuffix))
}

async function take(name: string): Promise<FreeLab | undefined> {
  const path = join(labOwner().directory, name)
  const taken = path.slice(0, -freeSuffix.length)
  try {
    await rename(path, taken)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return JSON.parse(await readFile(taken, 'utf8')) as FreeLab
}

function prefixOf(wanted: object): string {
  return `${createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 12)}-`
}
