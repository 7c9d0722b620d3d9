import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import fc from 'fast-check'
import { quote } from './shell-script.ts'

it('quotes words so that a shell takes them literally', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme-ascii' }), { minLength: 1, maxLength: 20 }), (words) => {
      const output = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(quote).join(' ')}`]).toString()
      expect(output.split('\0').slice(0, -1)).toEqual(words)
    }),
    { numRuns: 20 },
  )
})
