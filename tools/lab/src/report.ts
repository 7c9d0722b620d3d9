import type { CheckGroup } from './checks/all.ts'

const started = performance.now()

/** Runs a step and prints how long it took. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const since = performance.now()
  const ticker = setInterval(() => {
    process.stdout.write(`⋯ ${name} ${seconds(performance.now() - since)}\n`)
  }, 15_000)
  try {
    const result = await work()
    process.stdout.write(`✓ ${name.padEnd(42)} ${seconds(performance.now() - since).padStart(8)}\n`)
    return result
  } catch (error) {
    process.stdout.write(`✗ ${name.padEnd(42)} ${seconds(performance.now() - since).padStart(8)}\n`)
    throw error
  } finally {
    clearInterval(ticker)
  }
}

/** Prints what a group of checks found. */
export function printGroup({ name, rows, ms }: CheckGroup): void {
  if (rows.length === 0) return
  process.stdout.write(`\n${name}  ${seconds(ms)}\n`)
  const width = Math.max(0, ...rows.map((row) => row.name.length))
  for (const row of rows) {
    const found = row.isOk ? row.seen : `${row.seen}   (expected ${row.expected})`
    process.stdout.write(`  ${row.isOk ? '✓' : '✗'} ${row.name.padEnd(width)}  ${found}\n`)
  }
}

/** Prints the sum of all groups and says whether every row holds. */
export function printSummary(groups: readonly CheckGroup[]): boolean {
  const rows = groups.flatMap((group) => group.rows)
  const failed = rows.filter((row) => !row.isOk).length
  const time = seconds(performance.now() - started)
  process.stdout.write(`\n${rows.length - failed} of ${rows.length} checks passed in ${time}\n`)
  return failed === 0 && rows.length > 0
}

function seconds(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
