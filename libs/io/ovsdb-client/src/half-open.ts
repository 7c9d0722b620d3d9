import { setImmediate, setTimeout as pause } from 'node:timers/promises'
import type { Session } from './session.ts'

/**
 * Whether a connection that owes an answer is dead, although nobody has closed it.
 *
 * A connection whose peer went without a word looks like one to a server that takes its time. So the server is asked for a sign of life on
 * a new connection: one that gives it there and not here does not have this one any more. Nothing is known while it gives none at all.
 *
 * @param session - that was asked something
 * @param patienceMs - how long it may be silent before the server is asked elsewhere
 * @param connect - opens another connection to the same server
 */
export async function isHalfOpen(
  session: Session,
  patienceMs: number,
  connect: () => Promise<Session>,
): Promise<boolean> {
  const before = session.chunks
  session.request('echo', [], () => undefined).catch(() => undefined)
  await Promise.race([pause(patienceMs, undefined, { ref: false }), session.ended])
  if (session.hasEnded || session.chunks !== before) return false
  try {
    using witness = await connect()
    // The server takes its connections in turn: between two answers on one of them it has been at all others.
    await witness.request('echo', [], () => undefined)
    await witness.request('echo', [], () => undefined)
  } catch {
    return false
  }
  // An answer may lie unread in the socket.
  await setImmediate()
  return !session.hasEnded && session.chunks === before
}
