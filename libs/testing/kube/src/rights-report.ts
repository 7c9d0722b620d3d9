import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { USED_RIGHTS_FILE } from './accounts.ts'
import { renderChart } from './chart.ts'
import { FixtureError } from './errors.ts'
import { keptRights } from './kept-rights.ts'
import { describeRight, rightsOf } from './rights.ts'

/** As many are read, more are looked up. */
const shownAtMost = 12

let run: { readonly project: TestProject; readonly directory: string } | undefined

/** Has every worker of a run note which rights of the chart's accounts its tests needed. For Vitest's `globalSetup`. */
export async function setup(project: TestProject): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-rights-'))
  run = { project, directory }
  process.env[USED_RIGHTS_FILE] = join(directory, 'used')
  await writeFile(join(directory, 'used'), '')
}

/**
 * Tells which rights no test of the run has needed, but for those that are {@link keptRights kept}.
 *
 * @throws FixtureError when there are such rights and all tests of the project passed, so that nobody can need them
 */
export async function teardown(): Promise<void> {
  if (run === undefined) return
  const { project, directory } = run
  const used = new Set((await readFile(join(directory, 'used'), 'utf8')).split('\n').filter(Boolean))
  await rm(directory, { recursive: true })
  if (used.size === 0) return
  const needless = needlessRights(rightsOf(await renderChart()).map(describeRight), used)
  if (needless.length === 0) return
  if (await isWhole(project)) {
    throw new FixtureError('The chart gives rights that nothing needs', {
      what: 'helm/kube-ovn',
      output: needless.join('\n'),
      cure: 'take them from its roles, or tell in libs/testing/kube/src/kept-rights.ts what they are for',
    })
  }
  const lines = needless.slice(0, shownAtMost).map((right) => `  ${right}\n`)
  const rest = needless.length > shownAtMost ? `  and ${needless.length - shownAtMost} more\n` : ''
  process.stdout.write(`rights that no test of this run needed: ${needless.length}\n${lines.join('')}${rest}`)
}

/** Rights of the chart that were not used and are not kept for a reason. */
export function needlessRights(rights: readonly string[], used: ReadonlySet<string>): readonly string[] {
  const kept = new Set(keptRights.flatMap((some) => some.rights))
  return rights.filter((right) => !used.has(right) && !kept.has(right))
}

/** Whether every test of the project ran and passed, or was skipped for a reason of its own. */
async function isWhole(project: TestProject): Promise<boolean> {
  if (project.config.testNamePattern !== undefined) return false
  const modules = project.vitest.state.getTestModules().filter((module) => module.project === project)
  const { testFiles } = await project.globTestFiles()
  return modules.length === testFiles.length && modules.every((module) => module.ok())
}
