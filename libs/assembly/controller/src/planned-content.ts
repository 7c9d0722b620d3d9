import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { catalogOf, type DryRun } from '@kube-ovn/reconcile'
import { controlFeatures } from './features.ts'

/** What would be in a row, by column. Columns that refer to other rows are not told: they have no other words than identifiers. */
export interface PlannedContent {
  /** What columns would have; `null` for nothing. */
  readonly values: Readonly<Record<string, unknown>>
  /** Of columns in which others may have entries too: those that would come. */
  readonly gets: Readonly<Record<string, unknown>>
  /** And those that would go; of a map an entry may do both. */
  readonly loses: Readonly<Record<string, unknown>>
}

export const noContent: PlannedContent = { values: {}, gets: {}, loses: {} }

const { tables } = catalogOf(ovnNorthboundSchema, controlFeatures)

/** What one step would put into a row, or take from it. */
export function contentOf(step: DryRun['steps'][number]): PlannedContent {
  if (step.do === 'delete') return noContent
  const plain = (column: string): boolean =>
    tables.get(step.table)?.columns.get(column)?.refTable === undefined
  const told = (pairs: readonly (readonly [string, unknown])[]): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      pairs.filter(([column]) => plain(column)).map(([column, value]) => [column, value ?? null]),
    )
  if (step.do !== 'mutate') return { ...noContent, values: told(Object.entries(step.columns)) }
  const by = (wanted: string): Readonly<Record<string, unknown>> =>
    told(step.mutations.flatMap(([column, mutator, value]) => (mutator === wanted ? [[column, value]] : [])))
  return { values: {}, gets: by('insert'), loses: by('delete') }
}

/** Of several steps for one row. */
export function joined(a: PlannedContent, b: PlannedContent): PlannedContent {
  return {
    values: { ...a.values, ...b.values },
    gets: { ...a.gets, ...b.gets },
    loses: { ...a.loses, ...b.loses },
  }
}
