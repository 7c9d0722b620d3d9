import { stringify } from 'yaml'
import type { formats } from './options.ts'

type Format = (typeof formats)[number]

export interface Column<R> {
  readonly title: string
  readonly of: (row: R) => string | number | boolean | undefined
  /** Only in the wide table. */
  readonly isWide?: true
}

/** Puts rows under titles, as `kubectl get` does; nothing is cut. */
export function renderTable<R>(
  rows: readonly R[],
  columns: readonly Column<R>[],
  { isWide = false, hasHeaders = true }: { readonly isWide?: boolean; readonly hasHeaders?: boolean } = {},
): string {
  const shown = columns.filter((column) => isWide || column.isWide !== true)
  const cells = rows.map((row) => shown.map(({ of }) => cellOf(of(row))))
  const lines = hasHeaders ? [shown.map(({ title }) => title.toUpperCase()), ...cells] : cells
  const widths = shown.map((_, index) => Math.max(0, ...lines.map((line) => line[index]?.length ?? 0)))
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('')
}

function cellOf(value: string | number | boolean | undefined): string {
  return value === undefined || value === '' ? '-' : String(value)
}

/** What programs read. */
export function renderData(data: unknown, format: 'json' | 'yaml'): string {
  return format === 'json' ? `${JSON.stringify(data, undefined, 2)}\n` : stringify(data)
}

export interface Shown<R> {
  /** What programs get. */
  readonly data: unknown
  readonly rows: readonly R[]
  readonly columns: readonly Column<R>[]
  /** In place of a table without rows. */
  readonly empty?: string
}

export interface OutputChoice {
  readonly output: Format
  readonly headers: boolean
}

export function render<R>(
  { data, rows, columns, empty = 'No resources found' }: Shown<R>,
  choice: OutputChoice,
): string {
  const { output, headers } = choice
  if (output === 'json' || output === 'yaml') return renderData(data, output)
  if (rows.length === 0) return `${empty}\n`
  return renderTable(rows, columns, { isWide: output === 'wide', hasHeaders: headers })
}
