import type { LogFields } from './fields.ts'
import type { Logger } from './logger.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/** A logger that keeps its lines in memory, for tests that hold what is logged. */
export interface RecordingLogger extends Logger {
  readonly lines: readonly LogLine[]
}

/** Makes a logger whose lines, and those of its children, can be read. */
export function recordingLogger(): RecordingLogger {
  const lines: LogLine[] = []
  return { lines, ...loggerInto(lines, {}) }
}

function loggerInto(lines: LogLine[], bound: LogFields): Logger {
  function write(level: LogLevel): (message: string, fields?: LogFields) => void {
    return (message, fields) => void lines.push({ level, message, fields: { ...bound, ...fields } })
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => loggerInto(lines, { ...bound, ...fields }),
  }
}
