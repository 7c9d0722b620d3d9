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

/** The locks that a client wants. */
export class LockSet {
  readonly #locks = new Map<string, HeldLock>()
  #session: Session | undefined

  lock(name: string, isStolen: boolean): Lock {
    if (!isIdentifier(name)) throw new InvalidIdentifierError(name)
    const known = this.#locks.get(name)
    if (known !== undefined) {
      if (isStolen && !known.isOwned) this.#steal(known)
      return known
    }
    const lock = new HeldLock(name, isStolen, () => this.#release(lock))
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
    for (const lock of this.#locks.values()) lock.setOwned(false)
  }

  /** Takes a `locked` or `stolen` notification. */
  notified(method: 'locked' | 'stolen', name: unknown): void {
    if (typeof name === 'string') this.#locks.get(name)?.setOwned(method === 'locked')
  }

  /** Takes a lock for which this client is in the queue. The server wants it to leave the queue first. */
  #steal(lock: HeldLock): void {
    lock.isStolen = true
    const session = this.#session
    if (session === undefined) return
    session.request('unlock', [lock.name], () => undefined).catch((error: Error) => session.end(error))
    ask(session, lock)
  }

  async #release(lock: HeldLock): Promise<void> {
    if (this.#locks.get(lock.name) !== lock) return
    this.#locks.delete(lock.name)
    lock.setOwned(false)
    // A session that ends meanwhile takes the lock along, which is as good.
    await this.#session?.request('unlock', [lock.name], () => undefined).catch(() => undefined)
  }
}

class HeldLock implements Lock {
  readonly name: string
  /** To be taken from whoever has it, once: after a reconnect it may be another's by right. */
  isStolen: boolean
  readonly #release: () => Promise<void>
  readonly #listeners = new Listeners<boolean>()
  #isOwned = false

  constructor(name: string, isStolen: boolean, release: () => Promise<void>) {
    this.name = name
    this.isStolen = isStolen
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
  const isStolen = lock.isStolen
  session
    .request(isStolen ? 'steal' : 'lock', [lock.name], (result) => {
      lock.isStolen = false
      lock.setOwned(isStolen || (result as { locked?: unknown }).locked === true)
    })
    .catch((error: Error) => session.end(error))
}
