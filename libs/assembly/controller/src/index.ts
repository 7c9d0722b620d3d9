export { DefinitionDeletion } from './definition-deletion.ts'
export { controlFeatures } from './features.ts'
export { northboundTables } from './northbound-tables.ts'
export { OrphanConfirmation } from './orphan-confirmation.ts'
