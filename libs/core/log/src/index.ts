export type { LogFields } from './fields.ts'
export { silentLogger, type Logger } from './logger.ts'
export { recordingLogger, type LogLevel, type LogLine, type RecordingLogger } from './recording-logger.ts'
