import {
  operationsFor,
  type DatabaseSchema,
  type NewValue,
  type Operation,
  type Operations,
  type Tables,
} from 'ovsdb-client'
import type { Step } from './steps.ts'

/** Turns the steps of a plan into the operations of one transaction, headed by an assertion that the lock is ours. */
export function encodeSteps(
  schema: DatabaseSchema,
  steps: readonly Step[],
  lock: string | undefined,
): readonly Operation[] {
  const build = builders.getOrInsertComputed(schema, () => operationsFor<Loose>(schema))
  const operations = steps.map((step) => {
    switch (step.do) {
      case 'insert':
        return build.insert(
          step.table,
          step.columns,
          step.uuid === undefined ? step.name : { uuid: step.uuid },
        )
      case 'update':
        return build.update(step.table, step.uuid, step.columns)
      case 'mutate':
        return build.mutate(step.table, step.uuid, step.mutations)
      case 'delete':
        return build.remove(step.table, step.uuid)
    }
  })
  return lock === undefined ? operations : [build.assertLock(lock), ...operations]
}

/** One for each schema, of which a process has one or two. */
const builders = new WeakMap<DatabaseSchema, Operations<Loose>>()

/** Any table with any column: the builders check both against the schema. */
interface Loose extends Tables {
  readonly [table: string]: { readonly _uuid: string; readonly [column: string]: NewValue }
}
