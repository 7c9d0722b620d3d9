import { objectTable } from '@kube-ovn/reconcile'
import { sliceWatch } from './slices.ts'
import { serviceWatch } from './watches.ts'

export const serviceObjects = objectTable(serviceWatch)
export const sliceObjects = objectTable(sliceWatch)
