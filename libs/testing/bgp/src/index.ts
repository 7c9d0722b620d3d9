export { Gobgp, missingForGobgp, type GobgpNeighbor } from './gobgp.ts'
