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
export { openNetlink } from './netlink.ts'
export { inNamespace } from './namespace.ts'
export { readSysctl, writeSysctl } from './sysctl.ts'
