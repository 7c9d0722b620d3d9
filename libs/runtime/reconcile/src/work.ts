/** What the kernel of the node has in common with this one. */
export { DriftLimit } from './drift-limit.ts'
export { objectKeyOf } from './objects.ts'
export { ownerMark, parseOwnerMark, type OwnerMark } from './marks.ts'
export { ProblemLog } from './problems.ts'
export { queueGauges, queueObserver } from './queue-metrics.ts'
export { WorkQueue } from './queue.ts'
export { objectTable } from './source-tables.ts'
