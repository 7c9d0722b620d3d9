import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runNx } from './nx.ts'
import { repository } from './vitest.ts'

/** What the root of the workspace is held to: the targets of its package.json. */
function listSteps(): readonly string[] {
  const { nx } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly nx: { readonly targets: Readonly<Record<string, unknown>> }
  }
  return Object.keys(nx.targets)
}

async function main(names: readonly string[]): Promise<number> {
  const steps = listSteps()
  const unknown = names.filter((name) => !steps.includes(name))
  if (unknown.length > 0) {
    process.stderr.write(`Unknown step ${unknown.join(', ')}; known: ${steps.join(', ')}\n`)
    return 2
  }
  const wanted = names.length === 0 ? steps : names
  return runNx([
    'run-many',
    '--projects=kube-ovn',
    `--targets=${wanted.join(',')}`,
    `--parallel=${wanted.length}`,
  ])
}

process.exitCode = await main(process.argv.slice(2))
