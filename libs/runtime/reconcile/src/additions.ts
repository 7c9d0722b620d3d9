import type { Catalog } from './catalog.ts'
import type { Step } from './steps.ts'

/** Whether all that the steps do is to make rows and to put values and entries into columns. */
export function areAdditions(steps: readonly Step[], catalog: Catalog): boolean {
  return steps.every((step) => {
    if (step.do === 'insert') return true
    const columns = catalog.tables.get(step.table)?.columns
    return (
      step.do === 'mutate' &&
      step.mutations.every(([column, mutator]) => {
        const shape = columns?.get(column)?.shape
        return mutator === 'insert' && (shape === 'set' || shape === 'map')
      })
    )
  })
}
