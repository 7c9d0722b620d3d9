import { askDaemon, controlSocketOf } from '@kube-ovn/ovs'
import { systemClock } from '@kube-ovn/process'
import type { Sources } from '@kube-ovn/telemetry'
import { pause } from '@kube-ovn/time'
import type { OvsdbClient } from 'ovsdb-client'

/** Who of a cluster answers for it. */
export const roles = ['nb', 'sb', 'northd'] as const
export type Role = (typeof roles)[number]

/** A database that is followed, as far as it matters here. */
export type FollowedDatabase = Pick<OvsdbClient, 'state' | 'server' | 'onState' | 'onServer'>

export interface RolesOptions {
  /** Those of this node. */
  readonly databases: readonly { readonly role: Role; readonly database: FollowedDatabase }[]
  /** File with the process id of ovn-northd. */
  readonly northdPid: string
  readonly timeoutMs: number
  readonly sources: Sources
  readonly onChange: () => void
}

/** ovn-northd tells nobody whether it is the active one: it has to be asked. That is a message over a socket. */
const northdIntervalMs = 1000

/** Which roles the member of this node has. A role is not in `current` before it is known. */
export class Roles implements Disposable {
  readonly #options: RolesOptions
  readonly #current = new Map<Role, boolean>()
  readonly #stack = new DisposableStack()

  constructor(options: RolesOptions) {
    this.#options = options
    for (const { role, database } of options.databases) this.#followServer(role, database)
  }

  get current(): ReadonlyMap<Role, boolean> {
    return this.#current
  }

  /** Asks ovn-northd until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { northdPid, timeoutMs, sources } = this.#options
    while (!signal.aborted) {
      const status = await sources.ask('ovn-northd-role', async () =>
        askDaemon({ path: await controlSocketOf(northdPid), method: 'status', timeoutMs }),
      )
      this.#set('northd', /^Status: active/m.test(status ?? ''))
      await pause(systemClock, northdIntervalMs, signal)
    }
  }

  [Symbol.dispose](): void {
    this.#stack.dispose()
  }

  /** The server says when it becomes leader, and when it ceases to be. Without a server there is none here. */
  #followServer(role: Role, database: FollowedDatabase): void {
    const look = (): void => {
      const { phase } = database.state
      if (phase === 'connected') this.#set(role, database.server?.leader === true)
      else if (phase === 'waiting') this.#set(role, false)
    }
    this.#stack.use(database.onState(look))
    this.#stack.use(database.onServer(look))
    look()
  }

  #set(role: Role, has: boolean): void {
    if (this.#current.get(role) === has) return
    this.#current.set(role, has)
    this.#options.onChange()
  }
}
