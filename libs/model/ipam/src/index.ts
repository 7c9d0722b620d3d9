export * from './errors.ts'
export { Ipam } from './ipam.ts'
export type {
  AllocateRequest,
  FamilyStatistics,
  Lease,
  Statistics,
  SubnetChange,
  SubnetSpec,
} from './lease.ts'
