import { InvalidMatchError } from './errors.ts'
import { MatchSyntax } from './lexer.ts'
import { parseMatch } from './parse.ts'

/**
 * Checks that a text is one match expression: what is none is passed on by ovn-northd, and makes flows that do something else, or nothing.
 *
 * @throws InvalidMatchError
 */
export function checkMatch(text: string, field: string): void {
  try {
    parseMatch(text)
  } catch (error) {
    if (error instanceof MatchSyntax) throw new InvalidMatchError({ field, value: text, cure: error.cure })
    throw error
  }
}
