/**
 * The names of log fields, and what each holds.
 *
 * A field that many lines share has its name here, so that logs can be searched across apps. A name that is not
 * listed is allowed for what only one place knows.
 */
export interface LogFields {
  /** The app that writes: `controller`, `cni`, … Set once at start. */
  readonly app?: string
  readonly feature?: string
  /** What the line is about, as the feature's queue names it: `namespace/name` or `name`. */
  readonly key?: string
  /** A Kubernetes kind, e.g. `Pod`. */
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly pod?: string
  readonly node?: string
  readonly subnet?: string
  readonly vpc?: string
  readonly provider?: string
  /** One address, or both families separated by a comma. */
  readonly ip?: string
  readonly mac?: string
  /** Logical switch, its port, logical router, its port, port group. */
  readonly ls?: string
  readonly lsp?: string
  readonly lr?: string
  readonly lrp?: string
  readonly pg?: string
  /** An OVSDB table and a row's `_uuid`. */
  readonly table?: string
  readonly rowId?: string
  readonly rows?: number
  readonly inserted?: number
  readonly updated?: number
  readonly deleted?: number
  /** Number of tries so far. */
  readonly attempt?: number
  /** Time until the next try. */
  readonly retryMs?: number
  /** Duration of what was done. */
  readonly ms?: number
  /** Address of a peer, without credentials. */
  readonly endpoint?: string
  /** A thrown value, as it was caught. */
  readonly err?: unknown
  readonly [field: string]: unknown
}
