export { announceAddresses, type Announcement } from './announcement.ts'
export { EchoFailedError, EchoSocketDeniedError } from './errors.ts'
export { EchoSocket, type EchoOptions, type EchoResult, type EchoSocketOptions } from './echo-socket.ts'
export type { EchoFamily } from './icmp-echo.ts'
export {
  lookUp,
  readResolverConfiguration,
  type LookupOptions,
  type LookupResult,
  type ResolverConfiguration,
} from './name-lookup.ts'
export { tryPort, type PortResult, type PortTarget } from './port.ts'
export { answerPorts, type PortEcho, type PortEchoOptions } from './port-echo.ts'
