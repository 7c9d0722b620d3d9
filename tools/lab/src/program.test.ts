import { expect, test } from 'vitest'
import { tryProgram } from './program.ts'

test('a program that ends before it has read its input is told by its exit code', async () => {
  // More than a pipe holds: the rest is written to a program that is gone.
  const input = 'x'.repeat(4 << 20)
  await expect(tryProgram('true', [], { input })).resolves.toEqual({ exitCode: 0, stdout: '', stderr: '' })
  await expect(tryProgram('false', [], { input })).resolves.toMatchObject({ exitCode: 1 })
})
