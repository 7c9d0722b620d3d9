import { ensureReaper, findLabs, removeLab } from '@kube-ovn/lab'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { givenKubeconfig } from './given-cluster.ts'

/** Who holds the labs that go from one file of suites to the next, each of which has a process of its own. */
export interface LabOwner {
  /** The process that these labs end with. */
  readonly pid: number
  /** Where it is noted which of them are free. */
  readonly directory: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    readonly labOwner: LabOwner
  }
}

let directory: string | undefined

/** Has this process hold labs, however it ends. */
export async function setup(project: TestProject): Promise<void> {
  // On a given cluster there are none, and perhaps no engine.
  if (givenKubeconfig !== undefined) return
  ensureReaper()
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-free-labs-'))
  project.provide('labOwner', { pid: process.pid, directory })
}

/** Removes the labs that nobody has taken. */
export async function teardown(): Promise<void> {
  if (directory === undefined) return
  const own = (await findLabs()).filter(({ topology }) => topology.owner === process.pid)
  await Promise.all(own.map(({ topology }) => removeLab(topology.id)))
  await rm(directory, { recursive: true, force: true })
}
