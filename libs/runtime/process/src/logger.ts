import { KubeOvnError } from '@kube-ovn/errors'
import type { LogFields, Logger } from '@kube-ovn/log'
import { destination, multistream, pino } from 'pino'
import type { Logger as PinoLogger, StreamEntry } from 'pino'

export interface LoggerOptions {
  readonly app: string
  /** klog's verbosity: 4 and more includes `debug`. */
  readonly verbosity: number
  /** Besides standard error when `alsoToStderr`, else in its place. */
  readonly file?: string
  readonly alsoToStderr?: boolean
  /** Called with the level and the size of each line, e.g. `logMetrics(registry).wrote`. */
  readonly onLine?: (level: string, bytes: number) => void
}

/** Makes a logger that writes one JSON object a line. */
export function createLogger(options: LoggerOptions): Logger {
  const level = options.verbosity >= 4 ? 'debug' : 'info'
  const streams: StreamEntry[] = []
  const hasFile = options.file !== undefined && options.file !== ''
  if (hasFile) streams.push({ level, stream: destination({ dest: options.file, mkdir: true, sync: true }) })
  if (!hasFile || options.alsoToStderr === true)
    streams.push({ level, stream: destination({ dest: 2, sync: true }) })
  const { onLine } = options
  if (onLine !== undefined) streams.push({ level, stream: lineCounter(onLine) })
  return adapt(
    pino(
      {
        level,
        base: { app: options.app },
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { err: describeError },
      },
      multistream(streams),
    ),
  )
}

/** pino writes the level first: `{"level":"info",…`. */
function lineCounter(onLine: (level: string, bytes: number) => void): { write(line: string): void } {
  return { write: (line) => onLine(/^\{"level":"(\w+)"/.exec(line)?.[1] ?? '', Buffer.byteLength(line)) }
}

function adapt(inner: PinoLogger): Logger {
  return {
    debug: (message, fields) => inner.debug(fields ?? {}, message),
    info: (message, fields) => inner.info(fields ?? {}, message),
    warn: (message, fields) => inner.warn(fields ?? {}, message),
    error: (message, fields) => inner.error(fields ?? {}, message),
    child: (fields: LogFields) => adapt(inner.child(fields)),
  }
}

/** What a log keeps of a thrown value. The stack is kept for defects only: an expected error is told by its fields. */
function describeError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return String(thrown)
  const cause = thrown.cause === undefined ? {} : { cause: describeError(thrown.cause) }
  if (thrown instanceof KubeOvnError) {
    const stack = thrown.retry === 'never' ? { stack: thrown.stack } : {}
    return { code: thrown.code, message: thrown.message, details: thrown.details, ...stack, ...cause }
  }
  return { message: thrown.message, stack: thrown.stack, ...cause }
}
