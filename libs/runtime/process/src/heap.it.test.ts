import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { GivenBack } from './heap.ts'

/** Fills a heap as a start does, much of which is garbage afterwards, and gives back what it can. */
const program = `
  import { giveHeapBack } from ${JSON.stringify(join(import.meta.dirname, 'heap.ts'))}
  const kept = []
  for (let number = 0; number < 500_000; number++) {
    const object = { number, text: \`object \${number}\`, list: [number] }
    if (number % 20 === 0) kept.push(object)
    else kept.last = [object, kept.last]
  }
  delete kept.last
  console.log(JSON.stringify(giveHeapBack() ?? 'nothing'), kept.length)
`

function run(...options: readonly string[]): string {
  const all = [...options, '--input-type=module', '--eval', program]
  return execFileSync(process.execPath, all, { encoding: 'utf8', env: { PATH: process.env['PATH'] } })
}

it('gives what a start has taken back to the kernel', () => {
  const { before, after } = JSON.parse(run('--expose-gc').split(' ')[0] ?? '') as GivenBack
  expect(after).toBeLessThan(0.7 * before)
})

it('does nothing where it is not allowed to', () => {
  expect(run()).toBe('"nothing" 25000\n')
})
