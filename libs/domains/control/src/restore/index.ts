export { restoreWorld } from './restore-world.ts'
