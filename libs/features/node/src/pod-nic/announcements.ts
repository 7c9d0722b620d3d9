import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import type { DesiredAttachment } from './desired.ts'
import { announcePodEnd, type AnnouncingKernel } from './link.ts'

/**
 * When it is said again, for a frame may be lost: once the tunnels have found their ends again, which the userspace data path forgets
 * when a link comes (it then drops the copies for pods of the same node, too), before most pods are Ready; and as RFC 5227 has it
 * (ANNOUNCE_INTERVAL).
 */
const repeatsMs = [250, 2_000] as const

interface AnnouncementsDependencies {
  readonly kernel: AnnouncingKernel
  readonly clock: Clock
  readonly log: Logger
  readonly reporter: { announceFailed(): void }
}

/**
 * Announces the addresses of pods when they have been attached: at once, and twice more.
 *
 * That a pod could not be announced keeps nobody from attaching it: it is logged and counted.
 */
export class Announcements implements Disposable {
  readonly #deps: AnnouncementsDependencies
  /** What is to be repeated, by name of the host's end. */
  readonly #repeats = new Map<string, DisposableStack>()

  constructor(dependencies: AnnouncementsDependencies) {
    this.#deps = dependencies
  }

  [Symbol.dispose](): void {
    for (const repeat of this.#repeats.values()) repeat[Symbol.dispose]()
    this.#repeats.clear()
  }

  /** Does not throw, and takes some tenths of a millisecond. */
  announce(wanted: DesiredAttachment): void {
    this.cancel(wanted.hostName)
    this.#send(wanted)
    const repeats = new DisposableStack()
    for (const [index, afterMs] of repeatsMs.entries()) {
      const repeat = (): void => {
        if (index === repeatsMs.length - 1) this.#repeats.delete(wanted.hostName)
        this.#send(wanted)
      }
      repeats.use(this.#deps.clock.setTimer(afterMs, repeat))
    }
    this.#repeats.set(wanted.hostName, repeats)
  }

  /** Nobody may hear any more of a pod that is being removed: another one may have its address by then. */
  cancel(hostName: string): void {
    this.#repeats.get(hostName)?.[Symbol.dispose]()
    this.#repeats.delete(hostName)
  }

  #send(wanted: DesiredAttachment): void {
    const { kernel, log, reporter } = this.#deps
    try {
      announcePodEnd(kernel, wanted)
    } catch (error) {
      reporter.announceFailed()
      log.warn('addresses were not announced', { hostName: wanted.hostName, err: error })
    }
  }
}
