import type { RowKind } from '../row-kind.ts'
import { rowKind } from './declare.ts'

/** Where samples of what ACLs decide go, by its name. */
export const sampleCollector = rowKind({
  name: 'sample-collector',
  table: 'Sample_Collector',
  identify: ({ name }) => name,
})

/** Has ovn-northd sample what ACLs decide, by its type. */
export const samplingApp = rowKind({
  name: 'sampling-app',
  table: 'Sampling_App',
  identify: ({ type }) => type,
})

const made = new Map<string, RowKind<'Sample'>>()

/**
 * What is sampled of packets that an ACL of this kind decides about, by the natural key of the ACL.
 *
 * @see ovn-nb(5), Sample: its rows have no marks, and are whose ACL refers to them
 */
export function sampleOf(acl: Pick<RowKind, 'name'>): RowKind<'Sample'> {
  return made.getOrInsertComputed(acl.name, () => ({
    name: `sample-of-${acl.name}`,
    table: 'Sample',
    shared: [],
    isUnmarked: true,
    parent: ['ACL', 'sample_new'],
    identify: (_row, parent) =>
      parent?.id?.startsWith(`${acl.name}/`) === true ? parent.id.slice(acl.name.length + 1) : undefined,
  }))
}
