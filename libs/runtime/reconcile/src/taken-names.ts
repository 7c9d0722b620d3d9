import { problemText, type KubeOvnError } from '@kube-ovn/errors'
import { ConstraintViolationError } from 'ovsdb-client'
import { RowClaimedTwiceError, RowNameTakenError } from './errors.ts'
import type { Feature, Key, KubeEvent } from './feature.ts'
import { ownerOf, parseOwnerMark, type OwnerMark } from './marks.ts'
import type { Objects } from './objects.ts'
import type { Rows } from './rows.ts'

/** What ovsdb-server says of two rows that differ too little (ovsdb/transaction.c). */
const identical =
  /multiple rows in "?([A-Za-z_]+)"? table to have identical values \((.*)\) for index on .*row, with UUID ([0-9a-f-]+), existed/s

/**
 * Tells whose a name is because of which the server has refused a key's rows. What it refused for another reason, and what does not say so, stays
 * what it is.
 */
export function namedHolder(error: unknown, owner: OwnerMark, rows: Rows): unknown {
  if (!(error instanceof ConstraintViolationError)) return error
  const [, table = '', values = '', uuid = ''] = identical.exec(error.details.explanation ?? '') ?? []
  if (table === '') return error
  const row = rows.get(table, uuid)
  const holder = (row && ownerOf(row)) ?? 'somebody else'
  return new RowNameTakenError({ table, value: values.replaceAll('"', ''), owner, holder }, { cause: error })
}

/** What is told at the object of a key that must do without a row, as that is another one's. */
export function takenNameEvents<W>(
  owner: OwnerMark,
  error: unknown,
  {
    features,
    objects,
  }: { readonly features: ReadonlyMap<string, Feature<Key, unknown, W>>; readonly objects: Objects },
): readonly KubeEvent[] {
  if (!isTaken(error)) return []
  const { feature = '', key = '' } = parseOwnerMark(owner) ?? {}
  const about = features.get(feature)?.about
  if (about === undefined) return []
  const { name, namespace, uid } =
    objects.store(about.resource)?.get(about.objectOf?.(key) ?? key)?.metadata ?? {}
  if (name === undefined || uid === undefined) return []
  const regarding = { resource: about.resource, ...(namespace === undefined ? {} : { namespace }), name, uid }
  return [{ regarding, type: 'Warning', reason: 'NameTaken', message: problemText(error, 'metadata.name') }]
}

function isTaken(error: unknown): error is KubeOvnError {
  return error instanceof RowClaimedTwiceError || error instanceof RowNameTakenError
}
