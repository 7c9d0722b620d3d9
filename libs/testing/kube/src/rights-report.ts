import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { USED_RIGHTS_FILE } from './accounts.ts'
import { renderChart } from './chart.ts'
import { describeRight, rightsOf } from './rights.ts'

/** As many are read, more are looked up. */
const shownAtMost = 12

let directory: string | undefined

/** Has every worker of a run note which rights of the chart's accounts its tests needed. For Vitest's `globalSetup`. */
export async function setup(): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-rights-'))
  process.env[USED_RIGHTS_FILE] = join(directory, 'used')
  await writeFile(join(directory, 'used'), '')
}

/** Tells which rights no test of the run has needed, of each account that occurred in it. */
export async function teardown(): Promise<void> {
  if (directory === undefined) return
  const used = new Set((await readFile(join(directory, 'used'), 'utf8')).split('\n').filter(Boolean))
  await rm(directory, { recursive: true })
  if (used.size === 0) return
  const rights = rightsOf(await renderChart()).map((right) => ({ ...right, text: describeRight(right) }))
  for (const [account, all] of Map.groupBy(rights, (right) => right.account)) {
    const unused = all.filter(({ text }) => !used.has(text))
    if (unused.length === 0 || unused.length === all.length) continue
    const lines = unused.slice(0, shownAtMost).map(({ text }) => `  ${text}\n`)
    const rest = unused.length > shownAtMost ? `  and ${unused.length - shownAtMost} more\n` : ''
    process.stdout.write(
      `rights of ${account} that no test of this run needed (${unused.length} of ${all.length}):\n${lines.join('')}${rest}`,
    )
  }
}
