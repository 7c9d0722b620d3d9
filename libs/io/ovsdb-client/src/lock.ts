import { isIdentifier } from './encode.ts'
import { InvalidIdentifierError } from './errors.ts'
import { Listeners } from './listeners.ts'
import type { Session } from './session.ts'

/**
 * A lock of the server (RFC 7047, section 4.1.8 and 4.1.9): at most one client has it, the others queue for it.
 *
 * It is asked for again after every reconnect. `isOwned` may be out of date by the time a transaction arrives, so
 * begin the transaction with `assertLock(name)`.
 */
export interface Lock extends AsyncDisposable {
  readonly name: string
  readonly isOwned: boolean
  onChange(listener: (isOwned: boolean) => void): Disposable
  /** Gives the lock, or the place in the queue, back. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Whether to take a lock from whoever has it: once, or whenever the function says that it is this client's by right.
 */
export type Steal = boolean | (() => boolean)

/** The locks that a client wants. */
export class LockSet {
  readonly #locks = new Map<string, HeldLock>()
  #session: Session | undefined

  lock(name: string, steal: Steal): Lock {
    if (!isIdentifier(name)) throw new InvalidIdentifierError(name)
    const known = this.#locks.get(name)
    if (known !== undefined) {
      if (steal !== false) known.steal = steal
      if (steal !== false && !known.isOwned) this.#steal(known)
      return known
    }
    const lock = new HeldLock(name, steal, () => this.#release(lock))
    this.#locks.set(name, lock)
    if (this.#session !== undefined) ask(this.#session, lock)
    return lock
  }

  /** Asks for every lock on a new session. */
  attach(session: Session): void {
    this.#session = session
    for (const lock of this.#locks.values()) ask(session, lock)
  }

  /** The session ended, and with it the ownership of all locks. */
  detach(): void {
    this.#session = undefined
    for (const lock of this.#locks.values()) {
      lock.isAsked = false
      lock.setOwned(false)
    }
  }

  /** Takes a `locked` or `stolen` notification. */
  notified(method: 'locked' | 'stolen', name: unknown): void {
    if (typeof name === 'string') this.#locks.get(name)?.setOwned(method === 'locked')
  }

  /** Whether a lock is this client's by right, and another has it all the same. */
  get isRobbed(): boolean {
    return [...this.#locks.values()].some(
      ({ isOwned, steal }) => !isOwned && typeof steal === 'function' && steal(),
    )
  }

  /** Takes a lock for which this client may be in the queue. The server wants it to leave the queue first. */
  #steal(lock: HeldLock): void {
    const session = this.#session
    if (session === undefined) return
    if (lock.isAsked) unlock(session, lock)
    ask(session, lock)
  }

  async #release(lock: HeldLock): Promise<void> {
    if (this.#locks.get(lock.name) !== lock) return
    this.#locks.delete(lock.name)
    lock.setOwned(false)
    if (!lock.isAsked) return
    // A session that ends meanwhile takes the lock along, which is as good.
    await this.#session?.request('unlock', [lock.name], () => undefined).catch(() => undefined)
  }
}

class HeldLock implements Lock {
  readonly name: string
  /** `true` is for once: after a reconnect it may be another's by right. */
  steal: Steal
  /** This session has it or is in the queue for it. A server takes neither a second request nor an `unlock` without one. */
  isAsked = false
  readonly #release: () => Promise<void>
  readonly #listeners = new Listeners<boolean>()
  #isOwned = false

  constructor(name: string, steal: Steal, release: () => Promise<void>) {
    this.name = name
    this.steal = steal
    this.#release = release
  }

  get isOwned(): boolean {
    return this.#isOwned
  }

  onChange(listener: (isOwned: boolean) => void): Disposable {
    return this.#listeners.add(listener)
  }

  setOwned(isOwned: boolean): void {
    if (isOwned === this.#isOwned) return
    this.#isOwned = isOwned
    this.#listeners.emit(isOwned)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#release()
  }
}

function ask(session: Session, lock: HeldLock): void {
  const { steal } = lock
  if (typeof steal === 'function') {
    claim(session, lock, steal)
    return
  }
  lock.steal = false
  lock.isAsked = true
  session
    .request(steal ? 'steal' : 'lock', [lock.name], (result) => {
      lock.setOwned(steal || (result as { locked?: unknown }).locked === true)
    })
    .catch((error: Error) => session.end(error))
}

/**
 * Takes a lock that is this client's by right, and only then. The server may still have it on a connection that broke
 * without a word.
 *
 * The right may end while the request is under way, so that the lock was taken from another who has it by now. Then it is given
 * back before this client has used it: it learns of the lock by this answer, and so does whoever asks {@link Lock.isOwned}.
 */
function claim(session: Session, lock: HeldLock, isOurs: () => boolean): void {
  if (!isOurs()) return
  lock.isAsked = true
  session
    .request('steal', [lock.name], () => {
      if (isOurs()) lock.setOwned(true)
      else unlock(session, lock)
    })
    .catch((error: Error) => session.end(error))
}

function unlock(session: Session, lock: HeldLock): void {
  lock.isAsked = false
  session.request('unlock', [lock.name], () => undefined).catch((error: Error) => session.end(error))
}
