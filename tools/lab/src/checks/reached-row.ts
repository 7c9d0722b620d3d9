import { eventually } from '../kubernetes/wait.ts'
import { LabTimeoutError } from '../errors.ts'
import type { Place } from '../namespaces.ts'
import { pingAll } from '../probe/ping.ts'
import { countRow, type CheckRow } from './check.ts'

/** Who pings whom. */
interface Asking {
  readonly from: Place
  readonly targets: readonly string[]
}

/**
 * A row that holds if every address answers, at one time or another: flows of other nodes follow a pod that is Ready, and a machine that is busy
 * loses packets.
 */
export async function reachedRow(name: string, asking: readonly Asking[]): Promise<CheckRow> {
  let left = asking
  await eventually(name, async () => {
    left = await Promise.all(left.map(unanswered))
    return left.every(({ targets }) => targets.length === 0) ? true : undefined
  }).catch((error: unknown) => {
    if (!(error instanceof LabTimeoutError)) throw error
  })
  const count = (some: readonly Asking[]): number =>
    some.reduce((sum, { targets }) => sum + targets.length, 0)
  const row = countRow(name, count(asking) - count(left), count(asking))
  const missing = left.flatMap(({ targets }) => targets)
  return missing.length === 0 ? row : { ...row, seen: `${row.seen}; no answer of ${missing.join(', ')}` }
}

async function unanswered({ from, targets }: Asking): Promise<Asking> {
  const answered = targets.length === 0 ? new Set() : await pingAll(from, targets)
  return { from, targets: targets.filter((target) => !answered.has(target)) }
}
