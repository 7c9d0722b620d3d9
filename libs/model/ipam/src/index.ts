export { chooseFromList, entryOfMember, type Planned } from './address-list.ts'
export { auditRecords, judgeLease, judgeRecord } from './audit.ts'
export type { AddressFinding, AddressRule } from './audit.ts'
export * from './errors.ts'
export { Ipam, type IpamView } from './ipam.ts'
export type {
  AllocateRequest,
  FamilyStatistics,
  Lease,
  PoolChange,
  Statistics,
  SubnetChange,
  SubnetSpec,
} from './lease.ts'
export { isSameOwner, kindOf, nameOf, ownerOf } from './owner.ts'
export type { Owner, OwnerKind } from './owner.ts'
export { restoreRecords } from './restore.ts'
export type { AddressRecord, RecordConflict } from './restore.ts'
export { isMachineKept, isMemberKept } from './sticky.ts'
export type { MachineFacts, StatefulSetFacts } from './sticky.ts'
export type { InvariantRule, Violation } from './verify.ts'
