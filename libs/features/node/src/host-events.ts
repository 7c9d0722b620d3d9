import type { Netlink, NetlinkEvent, Watch } from '@kube-ovn/netlink'

type Listener = (event: NetlinkEvent) => void

/** Events of links, addresses, routes and rules of the host, read once for all who listen. */
export class HostEvents implements Disposable {
  readonly #listeners = new Set<Listener>()
  readonly #watch: Watch

  constructor(host: Pick<Netlink, 'watch'>) {
    this.#watch = host.watch({ links: true, addresses: true, routes: true, rules: true }, (event) => {
      for (const listener of this.#listeners) listener(event)
    })
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
    this.#listeners.clear()
  }

  /** Tells now of all that the kernel has told by now. */
  takeArrived(): void {
    this.#watch.takeArrived()
  }

  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}
