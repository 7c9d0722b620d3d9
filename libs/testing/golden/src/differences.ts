import { readFile } from 'node:fs/promises'

/** A difference that is meant: what it names is left out of both sides of a comparison. */
export interface DeclaredDifference {
  readonly in: 'northbound' | 'kubernetes'
  /** Table or kind; `*` stands for any text here and below. */
  readonly kind: string
  /** Where in an object, a pattern for each level. The whole kind when absent. */
  readonly path?: readonly string[]
  /** `group/case`. All cases when absent. */
  readonly case?: string
  readonly why: string
}

/** Reads the declarations out of the blocks marked `json golden` of a Markdown page. */
export async function readDifferences(page: string): Promise<readonly DeclaredDifference[]> {
  const text = await readFile(page, 'utf8')
  return [...text.matchAll(/^```json golden\n(.*?)^```/gms)].flatMap(
    ([, block]) => JSON.parse(block ?? '[]') as readonly DeclaredDifference[],
  )
}
