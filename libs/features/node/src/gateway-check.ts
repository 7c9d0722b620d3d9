import type { NeighbourInfo, Netlink } from '@kube-ovn/netlink'

/** Has the kernel ask for addresses on a link, which gives up after three questions, until all have answered. */
export class GatewayCheck {
  readonly silent: Set<string>
  readonly #inside: Pick<Netlink, 'neighbours' | 'resolveNeighbour' | 'watch'>
  readonly #index: number
  /** Why the kernel can not be asked, such as when the interface is gone. */
  #failure: Error | undefined

  /** The addresses are in canonical form. */
  constructor(
    inside: Pick<Netlink, 'neighbours' | 'resolveNeighbour' | 'watch'>,
    index: number,
    addresses: readonly string[],
  ) {
    this.silent = new Set(addresses)
    this.#inside = inside
    this.#index = index
  }

  /** Calls the function when there may be an end to it. */
  ask(recheck: () => void): Disposable {
    const look = (action: () => void): void => {
      try {
        action()
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new TypeError(String(error))
      }
      recheck()
    }
    const watch = this.#inside.watch({ neighbours: true }, (event) => {
      if (event.kind === 'resync') look(() => this.#askAll())
      if (event.kind === 'neighbour') look(() => this.#hear(event.neighbour))
    })
    look(() => this.#askAll())
    return watch
  }

  /** @throws what keeps the kernel from asking */
  isOver(): true | undefined {
    if (this.#failure !== undefined) throw this.#failure
    return this.silent.size === 0 ? true : undefined
  }

  #askAll(): void {
    for (const neighbour of this.#inside.neighbours(this.#index))
      if (isAnswer(neighbour)) this.silent.delete(neighbour.address)
    for (const address of this.silent) this.#inside.resolveNeighbour(this.#index, address)
  }

  #hear(neighbour: NeighbourInfo): void {
    const { index, address, state } = neighbour
    if (index !== this.#index || !this.silent.has(address)) return
    if (isAnswer(neighbour)) this.silent.delete(address)
    else if (state === 'failed') this.#inside.resolveNeighbour(index, address)
  }
}

function isAnswer({ mac, state }: NeighbourInfo): boolean {
  return mac !== undefined && state !== 'failed' && state !== 'incomplete' && state !== 'none'
}
