import type { KubeOvnError } from '@kube-ovn/errors'
import type { RowRef } from '@kube-ovn/ovn-names'
import type { NewValue, Uuid } from 'ovsdb-client'
import type { Catalog } from './catalog.ts'
import type { Lacks } from './contention.ts'
import { Edits } from './edits.ts'
import { idOf, type OwnerMark } from './marks.ts'
import type { Draft } from './draft.ts'
import { planMembers } from './members.ts'
import { NewRow } from './new-row.ts'
import { resolveWants, type ResolveRequest, type Resolution, type TableRow } from './resolve.ts'
import { diffRow, newColumns } from './row-diff.ts'
import { sharedContainersOf } from './containers.ts'
import { elementsOf } from './rows.ts'
import type { DeleteStep, InsertStep, RowOutcome, Step, UpdateStep } from './steps.ts'

export interface Plan {
  /** All of them belong into one transaction. None means that the database is as it should be. */
  readonly steps: readonly Step[]
  readonly outcomes: readonly RowOutcome[]
  /** The keys that have what they want only once the steps are carried out. */
  readonly touched: ReadonlySet<OwnerMark>
  /** Keys for which nothing was planned because rows that they refer to are missing. */
  readonly waiting: ReadonlyMap<OwnerMark, readonly RowRef[]>
  /** References that were left out because their rows are missing; the rest of the key is planned. */
  readonly awaited: ReadonlyMap<OwnerMark, readonly RowRef[]>
  /** Keys for which nothing was planned because their desired state is wrong. */
  readonly problems: ReadonlyMap<OwnerMark, KubeOvnError>
  /** Entries that keys can not have; the rest of them is planned. */
  readonly lacks: Lacks
}

/**
 * Computes what must change in the database so that every key has what it wants, and nothing that it had before
 * and no longer wants.
 *
 * Pure: the same request gives the same plan, in whatever order the wants stand. Applying the plan makes the next
 * one empty. Rows without an owner of ours are not touched, unless they are adopted or are containers of ours.
 */
export function planRows(request: ResolveRequest): Plan {
  const resolution = resolveWants(request)
  const draft = draftOf(request, resolution)
  const steps: Step[] = []
  for (const want of resolution.ready) {
    for (const target of resolution.targetsOf.get(want.owner) ?? []) {
      const { owner, id, existing } = target
      const { table } = target.row.kind
      const shape = request.catalog.tables.get(table)
      if (shape === undefined) continue
      if (existing === undefined) {
        const columns = newColumns(target, shape, resolution.resolve)
        draft.inserts.set(target.name, new NewRow(columns))
        const step: InsertStep = { do: 'insert', table, name: target.name, columns }
        steps.push(step)
        draft.outcomes.push({ outcome: 'inserted', owner, id, table })
        draft.touched.add(owner)
        continue
      }
      const { update, columns } = diffRow(target, existing, shape, resolution.resolve, draft.edits)
      if (columns.length === 0) continue
      if (Object.keys(update).length > 0) {
        const step: UpdateStep = { do: 'update', table, uuid: existing._uuid, columns: update }
        steps.push(step)
      }
      draft.outcomes.push({ outcome: target.isAdopted ? 'adopted' : 'updated', owner, id, table, columns })
      draft.touched.add(owner)
    }
  }
  const removed = new Set<Uuid>()
  for (const want of resolution.ready) {
    for (const unwanted of resolution.unwantedOf.get(want.owner) ?? []) {
      if (!removed.has(unwanted.row._uuid)) steps.push(...removeRow(unwanted, want.owner, draft))
      removed.add(unwanted.row._uuid)
    }
  }
  steps.push(
    ...releaseRoots(
      resolution.ready.flatMap(({ owner }) => resolution.unwantedOf.get(owner) ?? []),
      draft,
    ),
  )
  for (const want of resolution.ready) planMembers(want, draft)
  for (const row of draft.inserts.values()) row.close()
  return planOf(draft, steps)
}

/** Plans the removal of rows that no key owns. */
export function planRemoval(rows: readonly TableRow[], request: ResolveRequest): Plan {
  const doomed = new Set(rows.map(({ row }) => row._uuid))
  const resolution: Resolution = { ...resolveWants(request), doomed }
  const draft = draftOf(request, resolution)
  const deletions = rows.flatMap((row) => removeRow(row, nobody, draft))
  return planOf(draft, [...deletions, ...releaseRoots(rows, draft)])
}

const nobody: OwnerMark = ''

function draftOf(request: ResolveRequest, resolution: Resolution): Draft {
  const collected = { inserts: new Map(), touched: new Set<OwnerMark>(), outcomes: [], dropped: [] }
  return { request, resolution, edits: new Edits(), ...collected }
}

function planOf(draft: Draft, steps: readonly Step[]): Plan {
  dropReferences(draft, steps)
  const { request, resolution, outcomes, touched, edits } = draft
  const { waiting, awaited, problems } = resolution
  const lacks = request.lacks ?? new Map()
  return { steps: [...steps, ...edits.steps()], outcomes, touched, waiting, awaited, problems, lacks }
}

/**
 * Takes rows that go out of the sets of rows that stay and are changed.
 *
 * The server drops weak references to a row that is gone, but not always those of a row that the same transaction changes: it looks at
 * each changed row once, and may have looked at this one before it comes to the one that goes (ovsdb/transaction.c, `assess_weak_refs`, of
 * all versions up to 3.6). Such a reference would stay for ever.
 */
function dropReferences({ dropped, edits, resolution }: Draft, steps: readonly Step[]): void {
  const updated = new Set(steps.flatMap((step) => (step.do === 'update' ? [step.uuid] : [])))
  for (const { from, to } of dropped) {
    const { row, table, column } = from
    if (resolution.doomed.has(row._uuid)) continue
    if (updated.has(row._uuid) || edits.has(row._uuid)) edits.delete(table, row._uuid, column, to)
  }
}

/**
 * Removes a row of ours: of a root table by deleting it, of another by removing the references that keep it.
 *
 * A row that is kept by a container of somebody else only is left: containers of others are not ours to change.
 */
function removeRow({ table, row }: TableRow, owner: OwnerMark, draft: Draft): readonly DeleteStep[] {
  const { request, resolution, edits } = draft
  const isRoot = isRootTable(request.catalog, table)
  let isFreed = isRoot
  for (const container of sharedContainersOf(table, row._uuid, request)) {
    if (container.isWeak) {
      draft.dropped.push({ from: container, to: row._uuid })
      continue
    }
    isFreed = true
    if (resolution.doomed.has(container.row._uuid)) continue
    edits.delete(container.table, container.row._uuid, container.column, row._uuid)
  }
  if (!isFreed) return []
  draft.outcomes.push({
    outcome: 'deleted',
    owner,
    id: idOf(row) ?? request.adoptable.identify(table, row) ?? row._uuid,
    table,
  })
  draft.touched.add(owner)
  return isRoot ? [{ do: 'delete', table, uuid: row._uuid }] : []
}

/**
 * Takes root rows that go out of the columns of rows that only go because nothing holds them any more.
 *
 * The server looks at strong references before it collects what nobody holds (ovsdb/transaction.c, `ovsdb_txn_precheck`): to it, such a row
 * still refers, and it would refuse the transaction for ever.
 */
function releaseRoots(rows: readonly TableRow[], { request, resolution }: Draft): readonly UpdateStep[] {
  const { catalog } = request
  return rows.flatMap(({ table, row }) => {
    if (isRootTable(catalog, table)) return []
    const columns: Record<string, NewValue> = {}
    for (const [name, { refTable, isWeak, shape }] of catalog.tables.get(table)?.columns ?? []) {
      if (refTable === undefined || isWeak || !isRootTable(catalog, refTable)) continue
      const elements = elementsOf(row, name)
      const kept = elements.filter((element) => !resolution.doomed.has(String(element)))
      if (kept.length < elements.length) columns[name] = shape === 'set' ? kept : undefined
    }
    if (Object.keys(columns).length === 0) return []
    return [{ do: 'update', table, uuid: row._uuid, columns }]
  })
}

function isRootTable(catalog: Catalog, table: string): boolean {
  return catalog.tables.get(table)?.isRoot !== false
}
