import type { LogFields } from './fields.ts'

/**
 * Writes structured log lines.
 *
 * The message is constant, lower case, in the past tense for what happened; everything variable is a field.
 */
export interface Logger {
  /** Why a decision fell as it did. */
  debug(message: string, fields?: LogFields): void
  /** The world was changed. */
  info(message: string, fields?: LogFields): void
  /** Degraded, being retried. */
  warn(message: string, fields?: LogFields): void
  /** A person must look. */
  error(message: string, fields?: LogFields): void
  /** Yields a logger that adds `fields` to each line. */
  child(fields: LogFields): Logger
}

/** Drops every line. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
