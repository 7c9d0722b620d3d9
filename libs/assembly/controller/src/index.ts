export { assembleController, type AssembledController } from './assemble-controller.ts'
export { assembleKernel } from './assemble-kernel.ts'
export { southboundTables } from './chassis/southbound-tables.ts'
export { declarationsOf } from './declarations-of.ts'
export { controlFeatures } from './features.ts'
export { ownRights, type OwnRight } from './own-rights.ts'
export { northboundTables } from './northbound-tables.ts'
export {
  answerPlan,
  type ManifestObject,
  type PlanAnswer,
  type PlannedAddress,
  type PlannedRow,
  type PlannedWrite,
  type PlanRequest,
} from './plan-answer.ts'
export type { PlannedContent } from './planned-content.ts'
