import type { KubeOvnError } from '@kube-ovn/errors'
import type { JsonValue, KubeObject, ObjectChange, ObjectKey, Resource } from '@kube-ovn/kube'
import type { NorthboundTable, RowKind, RowRef } from '@kube-ovn/ovn-names'
import type { Atom, RowChange } from 'ovsdb-client'
import type { Configuration } from './applied.ts'
import type { Fact } from './facts.ts'

/** A key is a string that names an object of the feature's concern; what it means is the feature's affair. */
export type Key = string

/**
 * Decides, for each key, which rows and objects should be there.
 *
 * `K` is the key type, `S` the snapshot, `W` the world: the caches and settings that an app wires up. `O` is what is observed, where that
 * is not all that decides.
 */
export interface Feature<K extends Key = Key, S = unknown, W = unknown, O = S> {
  readonly name: string
  /** Row kinds that it may own. Two features that claim one kind fail at start. */
  readonly kinds: readonly RowKind[]
  /** Shared columns of other kinds to which its rows or values contribute. */
  readonly memberships?: readonly Membership[]
  readonly triggers: readonly Trigger<K, W>[]
  /** Keys that exist although nothing triggers them, e.g. a singleton. Queued once at start. */
  initialKeys?(world: W): Iterable<K>
  /**
   * Whether a key could want a row of this name at all: by both names alone, which say nothing of the world. A row that nobody has adopted is not
   * collected while a key that could want it fails or holds, so that it is not known what it wants. A key that wants another row is at fault.
   * Absent: every key any row of the feature's kinds.
   */
  mayOwn?(key: K, ref: RowRef): boolean
  /**
   * All keys of which {@link mayOwn} says so, for a feature that may have ten thousand of them; a key that is missing loses its rows. `undefined`:
   * the name does not tell, and each is asked.
   */
  keysOf?(ref: RowRef): readonly K[] | undefined
  /** Of which object it is told that a row which a key wants is another key's already; the key is its name where nothing else is said. Absent: the log tells it alone. */
  readonly about?: { readonly resource: Resource; objectOf?(key: K): ObjectKey }
  /** At most one round for a key in this time; what comes earlier waits for the rest of it. */
  readonly paceMs?: number
  /**
   * What its keys write lies at least so far apart, whichever of them writes, but for those of the first list: what comes meanwhile goes together.
   * For what a reader must have taken in before it can take the next. Absent: there is no such reader.
   */
  apartMs?(world: W): number
  /** Reads caches only, synchronously. `undefined` means that the object is gone. */
  observe(key: K, world: W): O | undefined
  /**
   * Takes, for what was observed, what there is only once and can not be derived, an address for example. Asking again gives the same.
   * Absent: what was observed decides.
   */
  allocate?(key: K, observed: O | undefined, world: W): Allocated<S>
  /** A function in the mathematical sense. For a gone object the answer is usually {@link nothing}. */
  desired(key: K, snapshot: S | undefined): Desired
}

/** What was taken, and what decides now. */
export interface Allocated<S> {
  readonly snapshot: S | undefined
  /** Gives back what was taken since, and takes what was given back: nothing came of it. */
  undo(): void
}

/** A shared column of rows of a kind, e.g. `{ kind: 'node-pg', column: 'ports' }`. */
export interface Membership {
  readonly kind: string
  readonly column: string
  /**
   * The key that alone may contribute a value or an entry, by its name; `undefined` when none does. What no key contributes is not taken
   * out while this key fails or holds. Absent: while any key of the feature does.
   */
  keyOf?(member: Member): Key | undefined
}

export type Trigger<K extends Key, W> = ObjectTrigger<K, W> | RowTrigger<K, W> | SignalTrigger<K, W>

/** "When an object of this resource changes, these keys are concerned." */
export interface ObjectTrigger<K extends Key, W> {
  readonly on: 'object'
  readonly resource: Resource
  // A method, not a property: a trigger written for one object type is assignable to the general one.
  keys(change: ObjectChange<never>, world: W): Iterable<K>
}

/** "When a row that is not the key's own changes, these keys are concerned." Own rows trigger by themselves. */
export interface RowTrigger<K extends Key, W> {
  readonly on: 'row'
  readonly table: NorthboundTable
  keys(change: RowChange, world: W): Iterable<K>
}

/** "When something that is neither an object nor a row changes (an address became free), …" */
export interface SignalTrigger<K extends Key, W> {
  readonly on: 'signal'
  readonly signal: string
  keys(subject: string, world: W): Iterable<K>
}

/** Everything that one key wants. What it owned before and no longer names is removed. */
export interface Desired {
  readonly rows: readonly OwnedRow[]
  readonly members: readonly Member[]
  /** Entries that an earlier life of the process may have contributed, and that are to go with this plan and not only when all keys are heard. */
  readonly withdrawn?: readonly MapMember[]
  readonly patches: readonly KubePatch[]
  readonly events: readonly KubeEvent[]
  /** What the key has decided and others go by, while it says so: rows of tables of facts. */
  readonly facts?: readonly Fact[]
  readonly recheckMs?: number
  /**
   * The input can not be used at present (an invalid edit, a deletion that must wait): the rows and members that
   * the key owns stay as they are, whatever `rows` and `members` say.
   */
  readonly hold?: true
  /** The user must act, or the world must change: reported, and retried as its class says. */
  readonly problem?: KubeOvnError
}

export type ColumnValue =
  Atom | RowRef | undefined | readonly (Atom | RowRef)[] | Readonly<Record<string, Atom | RowRef | undefined>>

/** A row that the key owns. Columns that are not named are left alone (and have their default in a new row). */
export interface OwnedRow {
  readonly kind: RowKind
  /** Natural key, unique within the kind. */
  readonly id: string
  readonly columns: Readonly<Record<string, ColumnValue>>
  /** Columns for a new row only, e.g. a generated MAC address that is kept afterwards. */
  readonly onInsert?: Readonly<Record<string, ColumnValue>>
}

/**
 * A single value in a set, or a single entry in a map, of a row that somebody else may own.
 *
 * A row of a non-root table needs one: the reference that keeps it alive. A key waits until every
 * container that it names exists.
 */
export type Member = SetMember | MapMember

export interface SetMember {
  readonly of: RowRef
  readonly column: string
  readonly value: RowRef | Atom
}

/**
 * An entry of a map, e.g. of Load_Balancer.vips. An `undefined` value says that there must be none of this key.
 *
 * Of keys that want different values for one entry, that one has it which had it first; the others are told that they can not.
 */
export interface MapMember {
  readonly of: RowRef
  readonly column: string
  readonly key: string
  readonly value: RowRef | Atom | undefined
}

/**
 * What an API object should contain.
 *
 * `merge` is a fragment in the sense of RFC 7386: `null` removes a key, arrays are replaced as a whole. Only what
 * differs from the cached object is sent, as one patch per object and subresource; nothing when nothing differs.
 */
export interface KubePatch {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
  readonly subresource?: 'status'
  readonly merge?: { readonly [key: string]: JsonValue }
  /** Posted when the object does not exist; without it a missing object is not an error. */
  readonly create?: KubeObject & {
    readonly spec?: { readonly [key: string]: JsonValue }
    readonly status?: { readonly [key: string]: JsonValue }
  }
  /**
   * What we say of an object that is ours, in place of `merge` and `create`: server-side apply. What it named before and names no more goes, and what
   * others set beside it stays. One key alone may apply an object, and its watch trims by `keepApplied`.
   */
  readonly apply?: Configuration
  /** The object should not exist. Finalizers named in `merge` are removed first. */
  readonly remove?: true
}

/** An event about an object. The same reason and message about one object is sent once. */
export interface KubeEvent {
  readonly regarding: {
    readonly resource: Resource
    readonly namespace?: string
    readonly name: string
    readonly uid: string
  }
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

export const nothing: Desired = { rows: [], members: [], patches: [], events: [] }
