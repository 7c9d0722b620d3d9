export {
  defaultsOf,
  duration,
  flagsInUse,
  list,
  oneOf,
  readConfig,
  switchedOn,
  text,
  wholeNumber,
} from './config.ts'
export type { Command, ConfigOf, FlagInUse, ParsedConfig, Setting, Settings } from './config.ts'
export { DatabaseConnection, type DatabaseConnectionOptions } from './database-connection.ts'
export { ConfigInvalidError } from './errors.ts'
export { giveHeapBack, type GivenBack } from './heap.ts'
export { bindAddresses, serveHealth } from './http-server.ts'
export type { HealthServerOptions, Review, SecureListener } from './http-server.ts'
export { runUntilSignal } from './lifecycle.ts'
export { createLogger } from './logger.ts'
export type { LoggerOptions } from './logger.ts'
export { processConfig } from './process-config.ts'
export { systemClock } from './system-clock.ts'
