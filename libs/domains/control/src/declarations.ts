import type { KubeObject, Resource } from '@kube-ovn/kube'
import type { NorthboundTable } from '@kube-ovn/ovn-names'
import { appliedExample, fieldTrimmedAway, resourceKey, TrimmedFieldError } from '@kube-ovn/reconcile'
import type { Settings } from '@kube-ovn/process'
import type { AnyTable } from '@kube-ovn/tables'
import { ConflictingDeclarationError, UndeclaredWritesError } from './errors.ts'

/** By what an object is looked up. */
interface Index<T extends KubeObject> {
  of(object: T): readonly string[]
}

/** A resource to watch, what to keep of its objects, and by what they are looked up. */
export interface Watch<T extends KubeObject> {
  readonly resource: Resource<T>
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Of the controller's own namespace alone. */
  readonly namespace?: 'own'
  /** Leaves out what nobody reads, before the object is stored. It must not change its argument. */
  // A method, as is an index: a watch of one type of objects is assignable to the general one.
  trim?(object: T): T
  readonly indexes?: Readonly<Record<string, Index<T>['of']>>
  /** It is served only where something else is installed. */
  readonly mayBeAbsent?: boolean
}

/** What is written of a resource, beside what is read. */
export interface Right {
  readonly resource: Resource
  readonly subresource?: 'status'
  /** In the controller's own namespace alone. */
  readonly namespace?: 'own'
  /** The chart gives it only where this value of it is on, as the feature is. */
  readonly onlyWith?: string
  readonly verbs: readonly ('create' | 'patch' | 'delete')[]
  /**
   * Examples that have every field that patches name, or that the objects are applied. Needed where the watch trims: what it left out would be
   * written for ever.
   */
  readonly writes?: readonly WrittenExample[] | 'applied'
}

type WrittenExample = KubeObject & Readonly<Record<string, unknown>>

/** Rows of others that are looked up. */
interface Lookup {
  readonly table: NorthboundTable
  readonly indexes: readonly string[]
  /** What was decided by them stands, whatever becomes of them. Absent: a trigger tells of what changes, or they are of the key itself. */
  readonly isKept?: true
}

/** What somebody needs of the app that he is part of. */
export interface Needs {
  /** What the domains watch needs no mention, but for further indexes of it. */
  readonly watches?: readonly Watch<KubeObject>[]
  readonly tables?: readonly AnyTable[]
  readonly lookups?: readonly Lookup[]
  readonly rights?: readonly Right[]
  /** Flags of the app that nobody else reads. Those that several features go by are in the settings of the domains. */
  readonly flags?: Settings
}

/** What all need together. */
export interface Declarations {
  /** One for each resource. */
  readonly watches: readonly Watch<KubeObject>[]
  readonly tables: readonly AnyTable[]
  /** One for each table. */
  readonly lookups: readonly Lookup[]
  readonly rights: readonly Right[]
  readonly flags: Settings
}

/**
 * Merges what the domains and the features need. Tables, flags, and indexes by their names, may be declared again as they are.
 *
 * @throws ConflictingDeclarationError when two want one resource or one flag in different ways
 * @throws TrimmedFieldError when a field is to be written that the watch of the resource leaves out
 * @throws UndeclaredWritesError when nobody can tell
 */
export function mergeDeclarations(all: Iterable<Needs & { readonly name: string }>): Declarations {
  const watches = new Map<string, { readonly by: string; readonly watch: Watch<KubeObject> }>()
  const tables = new Set<AnyTable>()
  const lookups = new Map<NorthboundTable, ReadonlySet<string>>()
  const rights: { readonly by: string; readonly right: Right }[] = []
  const flags = new Map<string, { readonly by: string; readonly setting: Settings[string] }>()
  for (const needs of all) {
    for (const watch of needs.watches ?? []) {
      const key = resourceKey(watch.resource)
      const known = watches.get(key)
      const merged = known === undefined ? watch : mergeWatches(known.watch, watch, [known.by, needs.name])
      watches.set(key, { by: known?.by ?? needs.name, watch: merged })
    }
    for (const table of needs.tables ?? []) tables.add(table)
    for (const { table, indexes } of needs.lookups ?? [])
      lookups.set(table, new Set([...(lookups.get(table) ?? []), ...indexes]))
    for (const right of needs.rights ?? []) rights.push({ by: needs.name, right })
    for (const [key, setting] of Object.entries(needs.flags ?? {})) {
      const known = flags.getOrInsert(key, { by: needs.name, setting })
      if (known.setting !== setting) refuse(key, 'flag', [known.by, needs.name])
    }
  }
  for (const { by, right } of rights) expectKept(by, right, watches.get(resourceKey(right.resource))?.watch)
  return {
    watches: [...watches.values()].map(({ watch }) => watch),
    tables: [...tables],
    lookups: [...lookups].map(([table, indexes]) => ({ table, indexes: [...indexes] })),
    rights: rights.map(({ right }) => right),
    flags: Object.fromEntries([...flags].map(([key, { setting }]) => [key, setting])),
  }
}

function expectKept(
  by: string,
  { resource, verbs, writes }: Right,
  watch: Watch<KubeObject> | undefined,
): void {
  if (!verbs.includes('patch') || watch?.trim === undefined) return
  if (writes === undefined) throw new UndeclaredWritesError(by, resourceKey(resource))
  const examples: readonly WrittenExample[] = writes === 'applied' ? [{ ...appliedExample }] : writes
  for (const object of examples) {
    const field = fieldTrimmedAway(object, watch.trim(object))
    if (field !== undefined) throw new TrimmedFieldError(by, resourceKey(resource), field)
  }
}

function refuse(subject: string, field: string, by: readonly string[]): never {
  throw new ConflictingDeclarationError({ subject, field, by })
}

/** What has to be the same: nobody can tell whose objects, or which part of them, the other one relies on. */
const agreed = ['labelSelector', 'fieldSelector', 'namespace', 'trim', 'mayBeAbsent'] as const

function mergeWatches(
  one: Watch<KubeObject>,
  other: Watch<KubeObject>,
  by: readonly [string, string],
): Watch<KubeObject> {
  const refuseField = (field: string): never => refuse(resourceKey(one.resource), field, by)
  if (one.resource.version !== other.resource.version) refuseField('version')
  for (const field of agreed) if (one[field] !== other[field]) refuseField(field)
  for (const [name, index] of Object.entries(other.indexes ?? {}))
    if ((one.indexes?.[name] ?? index) !== index) refuseField(`index ${name}`)
  return { ...one, indexes: { ...one.indexes, ...other.indexes } }
}
