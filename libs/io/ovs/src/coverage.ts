/** Reads the answer to `coverage/show`, a table of events that happened at least once: how often each did. */
export function parseCoverage(text: string): ReadonlyMap<string, number> {
  return new Map(
    [...text.matchAll(/^(\w+) .*\btotal: (\d+)$/gm)].map(([, event = '', total]) => [event, Number(total)]),
  )
}
