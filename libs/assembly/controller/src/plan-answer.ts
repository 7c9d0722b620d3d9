import type { AllocatingWorld } from '@kube-ovn/domains-control'
import { problemText, type KubeOvnError } from '@kube-ovn/errors'
import { isEqualJson, type KubeObject, type Resource } from '@kube-ovn/kube'
import type { DryRun, Kernel, PlannedChange } from '@kube-ovn/reconcile'
import { declarationsOf } from './declarations-of.ts'
import { controlFeatures } from './features.ts'

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

export interface PlannedRow {
  readonly action: 'add' | 'change' | 'adopt' | 'remove'
  readonly table: string
  /** KIND/NAME by which its owner knows it. */
  readonly row: string
  /** FEATURE/KEY that wants it so. */
  readonly owner: string
  /** Columns that differ. */
  readonly columns: readonly string[]
}

export interface PlannedWrite {
  readonly action: 'create' | 'patch' | 'delete'
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
  return { version: 1, ...told(kernel.planChanges(planned)), ignored }
}

const { watches } = declarationsOf(controlFeatures)

function isOf({ group, version, kind }: Resource, object: ManifestObject): boolean {
  return object.kind === kind && object.apiVersion === (group === '' ? version : `${group}/${version}`)
}

function told(run: DryRun): Omit<PlanAnswer, 'version' | 'ignored'> {
  const actions = { inserted: 'add', updated: 'change', adopted: 'adopt', deleted: 'remove' } as const
  const rows = run.outcomes.map(({ outcome, table, id, owner, columns = [] }): PlannedRow => ({
    action: actions[outcome],
    table,
    row: id,
    owner,
    columns,
  }))
  const refusals = [...run.refusals, ...run.problems].map(([owner, error]) => ({
    owner,
    problem: problemText(error),
  }))
  const failures = [...run.failed].map(([owner, error]) => ({ owner, problem: messageOf(error) }))
  return {
    rows: rows.toSorted((a, b) => `${a.table} ${a.row}`.localeCompare(`${b.table} ${b.row}`)),
    addresses: run.writes.flatMap(addressesOf),
    writes: run.writes.map(({ owner, patch, write }) => ({
      action: write.verb,
      kind: patch.resource.kind,
      name: nameOf(patch),
      subresource: patch.subresource ?? '',
      owner,
    })),
    refusals: [...refusals, ...failures].filter(isNew),
    waits: [...run.held, ...run.awaited].map(([owner, refs]) => ({
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
