export { MultiMap } from './multi-map.ts'
