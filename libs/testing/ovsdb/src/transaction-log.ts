/** One committed transaction, as a standalone database's file has it (ovsdb(5)). */
export interface TransactionRecord {
  readonly comment: string | undefined
  /** Table → row id → columns written, or `null` for a row that was removed. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, object | null>>>>
}

/** Reads the file of a standalone database: the schema first, then a record for each transaction. */
export function parseTransactionLog(file: string): readonly TransactionRecord[] {
  const [, ...transactions] = file.split('\n').filter((line) => line.startsWith('{'))
  return transactions.map((line) => {
    const { _comment, _date, _is_diff, ...tables } = JSON.parse(line) as Readonly<Record<string, unknown>>
    const comment = typeof _comment === 'string' ? _comment : undefined
    return { comment, tables: tables as TransactionRecord['tables'] }
  })
}
