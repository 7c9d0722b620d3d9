import { formatIp, offsetIp, type Ip, type Ipv4, type Ipv6 } from './address.ts'
import type { DualStackIp } from './dual-stack.ts'

/** Entries that follow each other: the first of them, and how many there are, each with the next address of each family. */
export interface AddressSpan {
  readonly first: DualStackIp
  readonly count: number
}

/**
 * Entries of one or two addresses, in the order in which somebody listed them.
 *
 * Costs memory for each span and not for each entry. What is listed twice is there twice.
 */
export class AddressList {
  /** How many entries there are. */
  readonly length: number
  readonly #counts: number[] = []
  readonly #v4: (Ipv4 | undefined)[] = []
  readonly #v6: (Ipv6 | undefined)[] = []

  constructor(spans: Iterable<AddressSpan>) {
    let length = 0
    for (const { first, count } of spans) {
      this.#counts.push(count)
      this.#v4.push(first.v4)
      this.#v6.push(first.v6)
      length += count
    }
    this.length = length
  }

  /** The entry of the number, from 0 on. */
  at(index: number): DualStackIp | undefined {
    let before = 0
    for (const [span, count] of this.#counts.entries()) {
      if (index < before + count) return index < before ? undefined : this.#entry(span, index - before)
      before += count
    }
    return undefined
  }

  /** The first entry of which every address is one of these. */
  within(held: DualStackIp): DualStackIp | undefined {
    for (const [span, count] of this.#counts.entries()) {
      const v4 = distance(this.#v4[span], held.v4)
      const v6 = distance(this.#v6[span], held.v6)
      const offset = v4 ?? v6 ?? 0
      const fits = (own: number | undefined): boolean => own === undefined || own === offset
      if (offset >= 0 && offset < count && fits(v4) && fits(v6)) return this.#entry(span, offset)
    }
    return undefined
  }

  *[Symbol.iterator](): Generator<DualStackIp, void, undefined> {
    for (const [span, count] of this.#counts.entries()) {
      for (let offset = 0; offset < count; offset++) yield this.#entry(span, offset)
    }
  }

  /** Prints `v4,v6` entries separated by semicolons, with `a..b` for those that follow each other. */
  toString(): string {
    return this.#counts
      .map((count, span) =>
        [this.#v4[span], this.#v6[span]]
          .filter((first) => first !== undefined)
          .map((first) => spanText(first, count))
          .join(','),
      )
      .join(';')
  }

  #entry(span: number, offset: number): DualStackIp {
    const v4 = this.#v4[span]
    const v6 = this.#v6[span]
    if (offset === 0) return { v4, v6 }
    return {
      v4: v4 === undefined ? undefined : offsetIp(v4, offset),
      v6: v6 === undefined ? undefined : offsetIp(v6, offset),
    }
  }
}

/** How far the address is beyond the first one; -1 when there is none. Absent without a first one. */
function distance<A extends Ip>(first: A | undefined, address: A | undefined): number | undefined {
  if (first === undefined) return undefined
  return address === undefined || address < first ? -1 : Number(BigInt(address) - BigInt(first))
}

function spanText(first: Ip, count: number): string {
  return count === 1 ? formatIp(first) : `${formatIp(first)}..${formatIp(offsetIp(first, count - 1))}`
}
