import type { Definition } from './definition.ts'
import { ipDefinition } from './ip.ts'
import { ipPoolDefinition } from './ip-pool.ts'
import { subnetDefinition } from './subnet.ts'
import { vipDefinition } from './vip.ts'
import { vpcDefinition } from './vpc.ts'

/** Every custom resource. The CRD generator, the chart's rights and the scheme test read this list. */
export const definitions: readonly Definition[] = [
  ipDefinition,
  ipPoolDefinition,
  subnetDefinition,
  vipDefinition,
  vpcDefinition,
]

export {
  conditionType,
  isConditionTrue,
  setCondition,
  withObservedGeneration,
  withStandardConditions,
  withoutCondition,
} from './conditions.ts'
export type { Condition, ConditionChange, ConditionStatus } from './conditions.ts'
export { readInEffect } from './in-effect.ts'
export { customResourceDefinition, objectSchema } from './crd.ts'
export type { JsonSchema } from './crd.ts'
export type { Definition, PrinterColumn } from './definition.ts'
export { ipResource } from './ip.ts'
export type { Ip, IpSpec, IpStatus } from './ip.ts'
export { ipPoolReason, ipPoolResource } from './ip-pool.ts'
export type { IpPool, IpPoolSpec, IpPoolStatus } from './ip-pool.ts'
export { apiVersion } from './api-group.ts'
export {
  instanceOf,
  virtualMachineInstanceMigrationResource,
  virtualMachineInstanceResource,
  virtualMachineResource,
} from './kubevirt.ts'
export type { VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceMigration } from './kubevirt.ts'
export { isOfKubeOvn, networkAttachmentResource } from './network-attachment.ts'
export type { NetworkAttachmentDefinition } from './network-attachment.ts'
export { subnetReason, subnetResource } from './subnet.ts'
export type { Subnet, SubnetInEffect, SubnetSpec, SubnetStatus } from './subnet.ts'
export { vipReason, vipResource, vipType } from './vip.ts'
export type { Vip, VipSpec, VipStatus } from './vip.ts'
export { vpcReason, vpcResource } from './vpc.ts'
export type { Vpc, VpcSpec, VpcStatus } from './vpc.ts'
