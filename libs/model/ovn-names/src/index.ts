export type * from './row-kind.ts'
