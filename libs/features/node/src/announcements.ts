import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'

/**
 * When it is said again, for a frame may be lost: once the tunnels have found their ends again, which the userspace data path forgets
 * when a link comes (it then drops the copies for pods of the same node, too), before most pods are Ready; and as RFC 5227 has it
 * (ANNOUNCE_INTERVAL).
 */
const repeatsMs = [250, 2_000] as const

export interface AnnouncementsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Addresses of a link were not announced. */
  onAnnounceFailed(): void
}

/**
 * Announces the addresses of links when they have got them: at once, and twice more.
 *
 * That they could not be announced keeps nobody from having them: it is logged and counted.
 */
export class Announcements implements Disposable {
  readonly #options: AnnouncementsOptions
  /** What is to be repeated, by name of the link. */
  readonly #repeats = new Map<string, DisposableStack>()

  constructor(options: AnnouncementsOptions) {
    this.#options = options
  }

  [Symbol.dispose](): void {
    for (const repeat of this.#repeats.values()) repeat[Symbol.dispose]()
    this.#repeats.clear()
  }

  /** `send` says it once. Does not throw, and takes as long as `send`. */
  announce(link: string, send: () => void): void {
    this.cancel(link)
    this.#send(link, send)
    const repeats = new DisposableStack()
    for (const [index, afterMs] of repeatsMs.entries()) {
      const repeat = (): void => {
        if (index === repeatsMs.length - 1) this.#repeats.delete(link)
        this.#send(link, send)
      }
      repeats.use(this.#options.clock.setTimer(afterMs, repeat))
    }
    this.#repeats.set(link, repeats)
  }

  /** Nobody may hear any more of a link that is being removed: another one may have its addresses by then. */
  cancel(link: string): void {
    this.#repeats.get(link)?.[Symbol.dispose]()
    this.#repeats.delete(link)
  }

  #send(link: string, send: () => void): void {
    try {
      send()
    } catch (error) {
      this.#options.onAnnounceFailed()
      this.#options.log.warn('addresses were not announced', { link, err: error })
    }
  }
}
