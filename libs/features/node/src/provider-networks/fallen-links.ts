import type { ProbationFiles } from '@kube-ovn/fragments'
import type { LinkInfo, NetlinkEvent } from '@kube-ovn/netlink'
import type { KeptNic } from './nic-moves.ts'

/**
 * Links of bridges that are down, or were since they were given what is known of them.
 *
 * A link that goes down loses its routes and IPv6 addresses, and what a bridge has nobody but us would give back. What is missing then was
 * taken away by nobody.
 */
export class FallenLinks {
  readonly #probations: Pick<ProbationFiles<KeptNic>, 'rows'>
  readonly #takeArrived: () => void
  readonly #indexes = new Set<number>()

  /** `takeArrived` has {@link hear} called for all that the kernel has told by now. */
  constructor(probations: Pick<ProbationFiles<KeptNic>, 'rows'>, takeArrived: () => void) {
    this.#probations = probations
    this.#takeArrived = takeArrived
  }

  /** To be asked when it was read what the link has: who was down and up again before is told of by now. */
  has({ index, isUp }: Pick<LinkInfo, 'index' | 'isUp'>): boolean {
    this.#takeArrived()
    return !isUp || this.#indexes.has(index)
  }

  /** It may be up again by the time that it is looked at. */
  hear({ change, link: { index, isUp } }: NetlinkEvent & { readonly kind: 'link' }): void {
    if (change === 'removed') this.#indexes.delete(index)
    else if (!isUp && this.#isKnown(index)) this.#indexes.add(index)
  }

  /** Has been given what it had. */
  forget(index: number): void {
    this.#indexes.delete(index)
  }

  #isKnown(index: number): boolean {
    return [...this.#probations.rows.values()].some(
      ({ kept: { bridgeIndex, vlans = [] } }) =>
        bridgeIndex === index || vlans.some(({ portIndex }) => portIndex === index),
    )
  }
}
