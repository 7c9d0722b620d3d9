export { AddressAudit } from './address-audit.ts'
export { auditAddresses, auditSteps } from './audit.ts'
