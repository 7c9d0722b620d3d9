import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandCases } from './command-cases.ts'

/** Generated of the program itself, a page a command, with those below it. */
const pages = join(import.meta.dirname, '../../../../docs/reference/kubectl-ko')

/** They have commands below them, and do nothing themselves. */
const groups = ['nb', 'sb', 'ipam']

it('has a case for every command that the program has, each with a page of its own', () => {
  const documented = readdirSync(pages)
    .filter((file) => file !== 'index.md')
    .flatMap((file) =>
      [...readFileSync(join(pages, file), 'utf8').matchAll(/^##? kubectl ko (.+)$/gm)].map(
        ([, name = '']) => name,
      ),
    )
  const cases = commandCases({ web: '', address: '', node: '' })
  expect([...Object.keys(cases), ...groups].toSorted()).toEqual(documented.toSorted())
  for (const [name, { bad }] of Object.entries(cases)) expect(bad.length, name).toBeGreaterThan(0)
})
