import { KubeOvnError } from '@kube-ovn/errors'
import type { LogFields, Logger } from '@kube-ovn/log'
import { multistream, pino } from 'pino'
import type { Logger as PinoLogger, StreamEntry } from 'pino'
import { LineFile } from './line-file.ts'

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

/**
 * Makes a logger that writes one JSON object a line. What the file does not take, such as on a full disk, goes to standard error: a program does not end because
 * it has something to say.
 */
export function createLogger(options: LoggerOptions): Logger {
  const level = options.verbosity >= 4 ? 'debug' : 'info'
  const streams: StreamEntry[] = []
  const { file = '', onLine } = options
  const standardError = new LineFile(2)
  const isToldThere = file === '' || options.alsoToStderr === true
  if (file !== '') streams.push({ level, stream: fileStream(options.app, file, standardError, isToldThere) })
  if (isToldThere) streams.push({ level, stream: { write: (line) => void standardError.write(line) } })
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

/** Writes to a file, and to standard error what that does not take, unless it is told there anyway. */
function fileStream(
  app: string,
  path: string,
  standardError: LineFile,
  isToldThere: boolean,
): { write(line: string): void } {
  const file = new LineFile(path)
  let isFailing = false
  return {
    write(line) {
      const problem = file.write(line)
      if (problem !== undefined && !isFailing) {
        const told = {
          level: 'error',
          app,
          path,
          err: describeError(problem),
          msg: 'log file is not written',
        }
        standardError.write(`${JSON.stringify(told)}\n`)
      }
      isFailing = problem !== undefined
      if (isFailing && !isToldThere) standardError.write(line)
    },
  }
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
