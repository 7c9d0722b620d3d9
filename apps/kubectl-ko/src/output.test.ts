import { expect, it } from 'vitest'
import { render, type Column } from './output.ts'

interface Row {
  readonly name: string
  readonly count?: number
}

const columns: readonly Column<Row>[] = [
  { title: 'name', of: ({ name }) => name },
  { title: 'count', of: ({ count }) => count, isWide: true },
]
const rows = [{ name: 'a', count: 1 }, { name: 'longer' }]

it('puts cells under their titles', () => {
  expect(render({ data: rows, rows, columns }, { output: 'wide', headers: true })).toBe(
    'NAME     COUNT\na        1\nlonger   -\n',
  )
})

it('leaves out what is for the wide table, and titles that are not wanted', () => {
  expect(render({ data: rows, rows, columns }, { output: 'table', headers: false })).toBe('a\nlonger\n')
})

it('prints data as JSON and YAML', () => {
  expect(JSON.parse(render({ data: rows, rows, columns }, { output: 'json', headers: true }))).toEqual(rows)
  expect(render({ data: rows, rows, columns }, { output: 'yaml', headers: true })).toBe(
    '- name: a\n  count: 1\n- name: longer\n',
  )
})

it('says that there is nothing, but not to programs', () => {
  const nothing = { data: [], rows: [], columns, empty: 'Nothing found' }
  expect(render(nothing, { output: 'table', headers: true })).toBe('Nothing found\n')
  expect(render(nothing, { output: 'json', headers: true })).toBe('[]\n')
})
