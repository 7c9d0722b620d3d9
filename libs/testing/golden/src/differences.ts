import { readFile } from 'node:fs/promises'

/** A difference that is meant: what it names is left out of both sides of a comparison. */
export interface DeclaredDifference {
  readonly in: 'northbound' | 'kubernetes'
  /** Table or kind; `*` stands for any text here and below. */
  readonly kind: string
  /** Where in an object, a pattern for each level. Texts of a list count by what they say. The whole object when absent. */
  readonly path?: readonly string[]
  /** What an object has that it is about, a pattern for each of these paths, written `a.b.c`. All objects of the kind when absent. */
  readonly row?: Readonly<Record<string, string>>
  /** `group/case`. All cases when absent. */
  readonly case?: string
  /** Of a step, two digits. All steps when absent. */
  readonly step?: string
  readonly why: string
}

/** Reads the declarations out of the blocks marked `json golden` of a Markdown page. */
export async function readDifferences(page: string): Promise<readonly DeclaredDifference[]> {
  const text = await readFile(page, 'utf8')
  return [...text.matchAll(/^```json golden\n(.*?)^```/gms)].flatMap(
    ([, block]) => JSON.parse(block ?? '[]') as readonly DeclaredDifference[],
  )
}
