export type * from './types.ts'
export { routeProtocol, routeScope, routeTable } from './numbers.ts'
export {
  LinkExistsError,
  LinkNotFoundError,
  NamespaceNotFoundError,
  NetlinkError,
  NetlinkPermissionError,
  InvalidNetlinkValueError,
} from './errors.ts'
export { addressOf, errnoName, libcFunction } from './libc.ts'
export { openFlows } from './flows.ts'
export type { Flow, FlowEnd, Flows } from './flows.ts'
export { decodeAddress, encodeAddress } from './inet.ts'
export { openNetlink, watchNetlink } from './netlink.ts'
export { holdFreshNamespace, inFreshNamespace, inNamespace, type HeldNamespace } from './namespace.ts'
export { openMulticast } from './multicast.ts'
export type { Multicast, MulticastEvent, MulticastOptions } from './multicast.ts'
export { ReadableDescriptor, WritableDescriptor } from './readable.ts'
export { eachAttribute, parseAttributes, readText } from './attributes.ts'
export type { Message } from './message.ts'
export { readSysctl, writeSysctl } from './sysctl.ts'
