import { serverSchema, type ServerTables } from './cluster.ts'
import { UnknownDatabaseError } from './errors.ts'
import type { Monitor } from './monitor.ts'
import { isUnknownMethod } from './monitor-request.ts'
import type { Session } from './session.ts'

/**
 * Starts the monitor of `_Server`, and answers whether there is such a database.
 *
 * Before Open vSwitch 2.9 there was none, and no clusters that it could tell of.
 */
export async function startIfPresent(server: Monitor<ServerTables>, session: Session): Promise<boolean> {
  try {
    await server.start(session, serverSchema)
    return true
  } catch (error) {
    if (error instanceof UnknownDatabaseError) return false
    throw error
  }
}

/** Lets a request fail that the server is too old for, when it can do without. */
export function ignoreUnknownMethod(error: unknown): void {
  if (!isUnknownMethod(error)) throw error
}
