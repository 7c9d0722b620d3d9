export {
  AttachmentDiffersError,
  AttachmentError,
  TunnelAddressNotFoundError,
  TunnelNicNotFoundError,
  type AttachmentStage,
} from './errors.ts'
export { desiredHostFirewall, hostFirewallTable } from './host-firewall/desired.ts'
export { HostFirewall, type HostFirewallDependencies } from './host-firewall/feature.ts'
export { desiredSysctls } from './host-firewall/sysctls.ts'
export {
  findInterface,
  integrationBridge,
  isInstalled,
  localOvsTables,
  removePortOperations,
  type LocalOvs,
} from './local-ovs.ts'
export { nodeNicName } from './node-nic/desired.ts'
export { NodeNic, type NodeNicSettings } from './node-nic/feature.ts'
export { NodeStatus } from './node-status/feature.ts'
export { removeOwnPorts, type OwnPorts } from './own-ports.ts'
export type { NodeWorld } from './node-world.ts'
export { Observable } from './observable.ts'
export type {
  Attachment,
  AttachmentReporter,
  AttachmentTimings,
  PodNicDependencies,
} from './pod-nic/dependencies.ts'
export { attachmentId } from './pod-nic/desired.ts'
export { PodNics } from './pod-nic/feature.ts'
export type { Kernel } from './pod-nic/link.ts'
export type { AttachmentRequest } from './pod-nic/snapshot.ts'
export { StalePorts } from './stale-ports/feature.ts'
export { Tunnels } from './tunnels/feature.ts'
export { networkTypes, type NetworkType, type TunnelSettings } from './tunnels/snapshot.ts'
export { UserspaceTaps } from './userspace-taps.ts'
