import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { metricsOf, type Program } from './registered-metrics.ts'
import { upstreamMetrics, type UpstreamMetrics } from './upstream-metrics.ts'
import { repository } from './workspace.ts'

const page = readFileSync(join(repository, 'docs/differences.md'), 'utf8')
/** By program, what is declared not to be there: the rows of a table with names in their first column. */
const absent = Map.groupBy(
  (page.split('\n## Metrics that are not there\n')[1]?.split('\n## ')[0] ?? '')
    .matchAll(/^\| (\w+) +\| ([^|]+)\|/gm)
    .flatMap(([, program = '', names = '']) =>
      names.matchAll(/`(\w+)`/g).map(([, name = '']) => ({ program, name })),
    ),
  ({ program }) => program,
)

function namesAbsentFrom(program: string): readonly string[] {
  return (absent.get(program) ?? []).map(({ name }) => name)
}

describe.each(Object.keys(upstreamMetrics) as Program[])('%s', (program) => {
  const wanted: UpstreamMetrics = upstreamMetrics[program]
  const ours = metricsOf(program)

  it("has each of upstream's metrics, with its type and labels, or is declared not to have it", () => {
    const missing = namesAbsentFrom(program)
    const seen = Object.keys(wanted)
      .filter((name) => !missing.includes(name))
      .map((name) => [name, ours.get(name)?.type, ...(ours.get(name)?.labels.toSorted() ?? [])])
    const expected = Object.entries(wanted)
      .filter(([name]) => !missing.includes(name))
      .map(([name, [type, ...labels]]) => [name, type, ...[...new Set(labels)].sort()])
    expect(seen).toEqual(expected)
  })

  it('is declared not to have only what upstream has and it has not', () => {
    expect(namesAbsentFrom(program).filter((name) => ours.has(name) || wanted[name] === undefined)).toEqual(
      [],
    )
  })
})
