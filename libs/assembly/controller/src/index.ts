export { assembleController, type AssembledController } from './assemble-controller.ts'
export { assembleKernel } from './assemble-kernel.ts'
export { controlFeatures } from './features.ts'
export { northboundTables } from './northbound-tables.ts'
