export { denyAll } from './sg/feature.ts'
