import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Json } from './dump.ts'
import { findCases } from './golden-case.ts'
import { printDump } from './print-dump.ts'

it('prints every recorded dump as it was recorded', async () => {
  const cases = await findCases(join(import.meta.dirname, '../cases'))
  const files = cases.flatMap(({ directory, steps, hasStart }) =>
    [...(hasStart ? ['00'] : []), ...steps.map(({ id }) => id)].flatMap((step) =>
      ['northbound', 'kubernetes'].map((side) => join(directory, step, `${side}.json`)),
    ),
  )
  expect(files.length).toBeGreaterThan(100)
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    expect(`${printDump(JSON.parse(text) as Json)}\n`, file).toBe(text)
  }
})
