import type { Column } from '../output.ts'

/** What came of one check. */
export interface Finding {
  readonly where: string
  readonly check: string
  readonly subject: string
  readonly isGood: boolean
  readonly result: string
}

export const findingColumns: readonly Column<Finding>[] = [
  { title: 'where', of: ({ where }) => where },
  { title: 'check', of: ({ check }) => check },
  { title: 'state', of: ({ isGood }) => (isGood ? 'ok' : 'FAILED') },
  { title: 'subject', of: ({ subject }) => subject },
  { title: 'result', of: ({ result }) => result },
]

export function verdictOf(findings: readonly Finding[]): string {
  const failed = findings.filter(({ isGood }) => !isGood)
  return failed.length === 0
    ? `${findings.length} checks, all is well`
    : `${failed.length} of ${findings.length} checks failed`
}

/** Runs `work` for each item, a few at a time, and answers in the order of the items. */
export async function eachOf<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const queue = items.entries()
  const workers = Array.from({ length: atOnce }, async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  })
  await Promise.all(workers)
  return results
}

/** Each is a connection to the API server and a process on a node. */
const atOnce = 8
