import type { Logger } from '@kube-ovn/log'
import { parseOwnerMark } from './marks.ts'
import type { Plan } from './plan.ts'

/** Writes a line for each key for whose sake a transaction was made. */
export function logCommit(logger: Logger, plan: Plan, ms: number): void {
  for (const owner of plan.touched) {
    const count = { inserted: 0, updated: 0, adopted: 0, deleted: 0 }
    for (const one of plan.outcomes) if (one.owner === owner) count[one.outcome]++
    logger.info('rows committed', { ...parseOwnerMark(owner), ...count, ms })
  }
}
