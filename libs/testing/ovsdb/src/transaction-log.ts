/** One committed transaction, as a database's file has it (ovsdb(5)). */
export interface TransactionRecord {
  readonly comment: string | undefined
  /** Table → row id → columns written, or `null` for a row that was removed. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, object | null>>>>
}

/** Reads the file of a standalone database: the schema first, then a record for each transaction. */
export function parseTransactionLog(file: string): readonly TransactionRecord[] {
  const [, ...transactions] = file.split('\n').filter((line) => line.startsWith('{'))
  return transactions.map((line) => transactionRecord(JSON.parse(line) as Fields))
}

/**
 * Reads the file of a cluster's member: its snapshot first, then the entries that it knows to be committed.
 *
 * An entry that was overruled by another leader is followed by the one that took its place.
 */
export function parseRaftLog(file: string): readonly TransactionRecord[] {
  const entries = new Map<number, Fields>()
  let committed = 0
  for (const line of file.split('\n').filter((text) => text.startsWith('{'))) {
    const { index, data, prev_index, prev_data, commit_index } = JSON.parse(line) as RaftRecord
    if (prev_data !== undefined && prev_index !== undefined) {
      entries.set(prev_index, prev_data[1])
      committed = prev_index
    }
    if (index !== undefined) entries.set(index, data?.[1] ?? {})
    if (commit_index !== undefined) committed = commit_index
  }
  return [...entries]
    .filter(([index, data]) => index <= committed && Object.keys(data).length > 0)
    .toSorted(([one], [other]) => one - other)
    .map(([, data]) => transactionRecord(data))
}

type Fields = Readonly<Record<string, unknown>>

/** What matters here of a record of ovsdb(5), section Clustered Format: a snapshot, an entry, or how far is committed. */
interface RaftRecord {
  readonly index?: number
  /** Schema or `null`, and a transaction. */
  readonly data?: readonly [unknown, Fields]
  readonly prev_index?: number
  readonly prev_data?: readonly [unknown, Fields]
  readonly commit_index?: number
}

function transactionRecord({ _comment, _date, _is_diff, ...tables }: Fields): TransactionRecord {
  const comment = typeof _comment === 'string' ? _comment : undefined
  return { comment, tables: tables as TransactionRecord['tables'] }
}
