import type { MatrixResult, MatrixRow } from './run-matrix.ts'

const marks = { 'as expected': '✓', differs: '✗', skipped: '∅' } as const

/** How many rows that differ are printed; more tell nothing new. */
const shownRows = 40

/**
 * Renders a result as a table: first every pair that differs, then the sums by rule, protocol and family, and what was skipped and why.
 */
export function renderMatrix({ rows, ms }: MatrixResult): string {
  const differing = rows.filter(({ verdict }) => verdict === 'differs')
  const detail = table(
    differing
      .slice(0, shownRows)
      .map((row) => [
        marks.differs,
        row.from,
        '→',
        row.to,
        `${row.protocol} ${row.family}`,
        `expected ${row.expected}`,
        `saw ${row.seen}`,
      ]),
  )
  const more = differing.length > shownRows ? [`  … and ${differing.length - shownRows} more`] : []
  const sums = table(summarizeMatrix(rows).map((sum) => [marks[sum.verdict], sum.name, sum.seen]))
  const text = `${differing.length} of ${rows.length} differ, ${(ms / 1000).toFixed(1)} s`
  return [...detail, ...more, ...(differing.length > 0 ? [''] : []), ...sums, '', text, ''].join('\n')
}

export interface MatrixSum {
  /** Rule, protocol and family. */
  readonly name: string
  readonly expected: string
  readonly seen: string
  readonly verdict: MatrixRow['verdict']
}

/** Sums up a result: one line for each rule, protocol and family, in the order of the declaration. */
export function summarizeMatrix(rows: readonly MatrixRow[]): readonly MatrixSum[] {
  const groups = Map.groupBy(rows, ({ rule, protocol, family }) => `${rule}: ${protocol} ${family}`)
  return [...groups].map(([name, members]) => {
    const asExpected = members.filter(({ verdict }) => verdict === 'as expected')
    const differing = members.filter(({ verdict }) => verdict === 'differs')
    const skipped = members.filter(({ verdict }) => verdict === 'skipped')
    const reasons = [...new Set(skipped.map(({ seen }) => seen))]
    const asked = members.length - skipped.length
    const verdict = differing.length > 0 ? 'differs' : asked === 0 ? 'skipped' : 'as expected'
    return {
      name,
      expected: `${asked} of ${asked} ${members[0]?.expected ?? ''}`,
      seen: [
        ...(asked > 0 ? [`${asExpected.length} of ${asked} ${members[0]?.expected ?? ''}`] : []),
        ...(skipped.length > 0 ? [`${skipped.length} skipped: ${reasons.join('; ')}`] : []),
      ].join(', '),
      verdict,
    }
  })
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' ')}`.trimEnd(),
  )
}
