/** Row types by table, generated; placeholder until the generator has run. */
export interface OvnNorthbound {
  readonly [table: string]: { readonly _uuid: string }
}
