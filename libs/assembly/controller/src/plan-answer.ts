import type { AllocatingWorld } from '@kube-ovn/domains-control'
import { problemText, type KubeOvnError } from '@kube-ovn/errors'
import { externalId } from '@kube-ovn/ovn-names'
import { isEqualJson, type KubeObject, type Resource } from '@kube-ovn/kube'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { catalogOf, type DryRun, type Kernel, type PlannedChange } from '@kube-ovn/reconcile'
import { declarationsOf } from './declarations-of.ts'
import { controlFeatures } from './features.ts'
import { northboundTables } from './northbound-tables.ts'
import { contentOf, joined, noContent, type PlannedContent } from './planned-content.ts'

/** An object as a manifest has it, with its kind. */
export interface ManifestObject extends KubeObject {
  readonly apiVersion: string
  readonly kind: string
}

/** What is asked: objects as they would be, and such as would be deleted, in this order. */
export interface PlanRequest {
  readonly version: 1
  readonly changes: readonly { readonly verb: 'apply' | 'delete'; readonly object: ManifestObject }[]
}

export interface PlannedRow extends PlannedContent {
  readonly action: 'add' | 'change' | 'adopt' | 'remove'
  readonly table: string
  /** KIND/NAME by which its owner knows it; the name, or the identifier, of a row without marks. */
  readonly row: string
  /** FEATURE/KEY whose row it is; others may have entries in it. */
  readonly owner: string
  /** Columns that differ. */
  readonly columns: readonly string[]
}

export interface PlannedWrite {
  readonly action: 'create' | 'patch' | 'apply' | 'delete'
  readonly kind: string
  readonly name: string
  readonly subresource: string
  readonly owner: string
}

export interface PlannedAddress {
  readonly address: string
  readonly mac: string
  readonly subnet: string
  /** The IP object that would record it. */
  readonly record: string
}

/** What would come of it. */
export interface PlanAnswer {
  readonly version: 1
  readonly rows: readonly PlannedRow[]
  readonly addresses: readonly PlannedAddress[]
  readonly writes: readonly PlannedWrite[]
  /** What would be refused, or could only be done in part. */
  readonly refusals: readonly { readonly owner: string; readonly problem: string }[]
  /** What would wait for rows that are not there. */
  readonly waits: readonly { readonly owner: string; readonly rows: readonly string[] }[]
  /** Objects that decide nothing here, as KIND NAME. */
  readonly ignored: readonly string[]
}

/** Asks the kernel what changes would come to; nothing is changed by it. */
export function answerPlan(
  kernel: Pick<Kernel<AllocatingWorld>, 'planChanges' | 'plan'>,
  { northbound }: Pick<AllocatingWorld, 'northbound'>,
  { changes }: PlanRequest,
): PlanAnswer {
  const planned: PlannedChange[] = []
  const ignored: string[] = []
  for (const { verb, object } of changes) {
    const watch = watches.find(({ resource }) => isOf(resource, object))
    if (watch === undefined) {
      ignored.push(`${object.kind} ${nameOf(object.metadata)}`)
      continue
    }
    const { resource } = watch
    // As the informer would keep it.
    planned.push(
      verb === 'delete'
        ? { resource, remove: object.metadata }
        : { resource, object: watch.trim?.(object) ?? object },
    )
  }
  // Brings derived tables up to date first.
  kernel.plan([])
  return { version: 1, ...told(kernel.planChanges(planned), northbound as unknown as Rows), ignored }
}

const { watches } = declarationsOf(controlFeatures)

function isOf({ group, version, kind }: Resource, object: ManifestObject): boolean {
  return object.kind === kind && object.apiVersion === (group === '' ? version : `${group}/${version}`)
}

/** Rows as they are, by names of tables. */
interface Rows {
  get(table: string, uuid: string): AnyRow | undefined
  find(table: string, index: string, key: string): readonly AnyRow[]
  scan(table: string): Iterable<AnyRow>
}

interface AnyRow {
  readonly _uuid: string
  readonly [column: string]: unknown
}

/** Every row that the transaction would touch, be it for its owner or for whoever has an entry in it. */
function rowsOf({ steps, outcomes }: DryRun, northbound: Rows): readonly PlannedRow[] {
  const adopted = new Set(outcomes.filter(({ outcome }) => outcome === 'adopted').map(({ id }) => id))
  const rows = new Map<string, PlannedRow>()
  for (const step of steps) {
    if (step.do === 'insert') {
      const marked = marksOf(step.columns, step.name)
      const columns = Object.keys(step.columns)
      rows.set(step.name, { action: 'add', table: step.table, ...marked, columns, ...contentOf(step) })
      continue
    }
    const { table, uuid } = step
    const marked = marksOf(northbound.get(table, uuid) ?? {}, uuid)
    const before = rows.get(uuid)
    const columns =
      step.do === 'update'
        ? Object.keys(step.columns)
        : step.do === 'mutate'
          ? step.mutations.map(([column]) => column)
          : []
    const isGone = step.do === 'delete' || before?.action === 'remove'
    rows.set(uuid, {
      action: isGone ? 'remove' : adopted.has(marked.row) ? 'adopt' : 'change',
      table,
      ...marked,
      columns: isGone ? [] : [...new Set([...(before?.columns ?? []), ...columns])],
      ...(isGone ? noContent : joined(before ?? noContent, contentOf(step))),
    })
  }
  // What goes with the row that it belongs to takes no step of its own.
  const removed = new Set([...rows.values()].filter(({ action }) => action === 'remove').map(nameOfRow))
  const along = outcomes
    .filter(({ outcome }) => outcome === 'deleted')
    .map(({ table, id, owner }): PlannedRow => ({
      action: 'remove',
      table,
      row: id,
      owner,
      columns: [],
      ...noContent,
    }))
    .filter((row) => !removed.has(nameOfRow(row)))
  const known = new Set(rows.keys())
  const gone = [
    ...steps.flatMap((step) => (step.do === 'delete' ? [step] : [])),
    ...along.flatMap(({ table, row }) =>
      northbound.find(table, idIndex, row).map(({ _uuid: uuid }) => ({ table, uuid })),
    ),
  ]
  const losing = losersOf(gone, northbound).filter(({ uuid }) => !known.has(uuid))
  return [...rows.values(), ...along, ...losing.map(({ row }) => row)].toSorted((a, b) =>
    `${a.table} ${a.row}`.localeCompare(`${b.table} ${b.row}`),
  )
}

/** Rows with weak references to rows that go: the server takes these away. */
function losersOf(
  gone: readonly { readonly table: string; readonly uuid: string }[],
  northbound: Rows,
): readonly { readonly uuid: string; readonly row: PlannedRow }[] {
  const byTable = Map.groupBy(gone, ({ table }) => table)
  return weakColumns.flatMap(({ table, column, refTable }) => {
    const uuids = new Set(byTable.get(refTable)?.map(({ uuid }) => uuid))
    if (uuids.size === 0) return []
    return [...northbound.scan(table)]
      .filter((row) => [row[column]].flat().some((one) => typeof one === 'string' && uuids.has(one)))
      .map((row) => {
        const { _uuid: uuid } = row
        const marked = marksOf(row, uuid)
        return { uuid, row: { action: 'change' as const, table, ...marked, columns: [column], ...noContent } }
      })
  })
}

const { tables } = catalogOf(ovnNorthboundSchema, controlFeatures)
const cached = northboundTables()
const weakColumns = [...tables].flatMap(([table, { columns }]) =>
  [...columns].flatMap(([column, { isWeak, refTable }]) =>
    isWeak && refTable !== undefined && table in cached ? [{ table, column, refTable }] : [],
  ),
)
const idIndex = `external_ids:${externalId.id}`

function nameOfRow({ table, row }: Pick<PlannedRow, 'table' | 'row'>): string {
  return `${table} ${row}`
}

function marksOf(columns: object, identifier: string): Pick<PlannedRow, 'row' | 'owner'> {
  const { external_ids: ids = {}, name = identifier } = columns as {
    readonly external_ids?: Readonly<Record<string, string>>
    readonly name?: string
  }
  return { row: ids[externalId.id] ?? name, owner: ids[externalId.owner] ?? '' }
}

function told(run: DryRun, northbound: Rows): Omit<PlanAnswer, 'version' | 'ignored'> {
  const refusals = [...run.refusals, ...run.problems].map(([owner, error]) => ({
    owner,
    problem: problemText(error),
  }))
  const failures = [...run.failed].map(([owner, error]) => ({ owner, problem: messageOf(error) }))
  return {
    rows: rowsOf(run, northbound),
    addresses: run.writes.flatMap(addressesOf),
    writes: run.writes.map(({ owner, patch, write }) => ({
      action: write.verb,
      kind: patch.resource.kind,
      name: nameOf(patch),
      subresource: patch.subresource ?? '',
      owner,
    })),
    refusals: [...refusals, ...failures].filter(isNew),
    waits: [...run.waiting, ...run.awaited].map(([owner, refs]) => ({
      owner,
      rows: refs.map(({ kind, id }) => `${kind}/${id}`),
    })),
  }
}

/** One key may be refused in two ways with the same words. */
function isNew<T>(item: T, index: number, all: readonly T[]): boolean {
  return all.findIndex((other) => isEqualJson(other, item)) === index
}

function messageOf(error: unknown): string {
  if (error instanceof Error && 'details' in error) return problemText(error as KubeOvnError)
  return error instanceof Error ? error.message : String(error)
}

/** An IP object that would be written is an address that would be taken. */
function addressesOf({ patch, write }: DryRun['writes'][number]): readonly PlannedAddress[] {
  if (patch.resource.kind !== 'IP' || write.verb !== 'create') return []
  const { spec = {} } = write.object as KubeObject & { readonly spec?: Readonly<Record<string, unknown>> }
  const text = (field: string): string => (typeof spec[field] === 'string' ? spec[field] : '')
  return [text('v4IpAddress'), text('v6IpAddress')]
    .filter((address) => address !== '')
    .map((address) => ({
      address,
      mac: text('macAddress'),
      subnet: text('subnet'),
      record: patch.name,
    }))
}

function nameOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}
