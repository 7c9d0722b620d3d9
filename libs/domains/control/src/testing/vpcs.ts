export { claimOf } from '../topology/vpc-spec.ts'
