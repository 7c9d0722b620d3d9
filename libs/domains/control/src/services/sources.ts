import { objectTable } from '@kube-ovn/reconcile'
import { serviceWatch, sliceWatch } from './watches.ts'

export const serviceObjects = objectTable(serviceWatch)
export const sliceObjects = objectTable(sliceWatch)
