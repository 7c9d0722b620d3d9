export { BfdMonitor, type BfdDependencies } from './monitor.ts'
export type { BfdState } from './packet.ts'
export type { BfdStatus, BfdTimers } from './session.ts'
