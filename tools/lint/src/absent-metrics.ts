import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './measured-metrics.ts'
import { repository } from './workspace.ts'

const page = readFileSync(join(repository, 'docs/differences.md'), 'utf8')
/** The rows of a table with names in their second column, by their first one. */
const absent = Map.groupBy(
  (page.split('\n## Metrics that are not there\n')[1]?.split('\n## ')[0] ?? '')
    .matchAll(/^\| (\w+) +\| ([^|]+)\|/gm)
    .flatMap(([, program = '', names = '']) =>
      names.matchAll(/`(\w+)`/g).map(([, name = '']) => ({ program, name })),
    ),
  ({ program }) => program,
)

/** Names of upstream's metrics that a program is declared not to have. */
export function absentMetrics(program: Program): readonly string[] {
  return (absent.get(program) ?? []).map(({ name }) => name)
}
