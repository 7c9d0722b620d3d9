export type * from './feature.ts'
export { nothing } from './feature.ts'
