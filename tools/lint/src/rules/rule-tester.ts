import typescriptParser from '@typescript-eslint/parser'
import { RuleTester } from 'eslint'
import { describe, it } from 'vitest'

RuleTester.describe = describe
RuleTester.it = it

/** ESLint's own tester, on TypeScript: each accepted and refused piece of code becomes a test. */
export function typescriptRuleTester(): RuleTester {
  return new RuleTester({ languageOptions: { parser: typescriptParser } })
}
