import { inputsOf, type AnyTable, type Source } from '@kube-ovn/tables'
import type { Place } from './claims.ts'

/** Where the rows of a table come from that nobody derives. */
export interface NodeSource<R> extends Source<R> {
  /**
   * Whether it has told by now what there is. Absent: from the beginning. While one has not, nothing is taken away that could follow from it:
   * what nobody wants may be wanted by what has not come. Once it has, it tells of a row.
   */
  isKnown?(): boolean
}

/** What the fragments of each sink come from in the end. */
export function sourcesOfSinks(places: readonly Place[]): ReadonlyMap<string, ReadonlySet<AnyTable>> {
  const sources = new Map<string, Set<AnyTable>>()
  for (const { sink, table } of places) {
    const ofSink = sources.getOrInsertComputed(sink.name, () => new Set())
    for (const one of sourcesOf(table)) ofSink.add(one)
  }
  return sources
}

function sourcesOf(table: AnyTable): readonly AnyTable[] {
  const seen = new Set([table])
  // What is added on the way is come to as well.
  for (const one of seen) for (const input of inputsOf(one)) seen.add(input)
  return [...seen].filter(({ origin }) => origin.kind === 'source')
}
