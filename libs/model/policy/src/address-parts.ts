import { cidrOf, contains, lastAddress, overlaps, type Cidr } from '@kube-ovn/ip'
import type { AddressBlock } from './rules.ts'

/**
 * As many OpenFlow rules the exceptions of a block may cost in the original's form, for each port. Each of them is the bits in which an
 * address differs from it, and ovn-controller multiplies these out: 0.0.0.0/0 without the three private prefixes is 1,536, and without ten
 * of /24 more than any node has room for.
 */
export const mostExceptionFlows = 256

/** As many prefixes a block may come apart into; OVN takes a rule for each. */
export const mostParts = 1024

/** How many rules the exceptions cost at most as ovn-controller multiplies them out. */
export function exceptionFlows({ prefix, except }: AddressBlock): number {
  return except.reduce((product, one) => product * Math.max(1, one.prefixLength - prefix.prefixLength), 1)
}

/** How many rules a block costs at most, in the form in which it is written. */
export function blockFlows(block: AddressBlock): number {
  const multiplied = exceptionFlows(block)
  return multiplied <= mostExceptionFlows ? multiplied : Math.min(mostParts, mostPartsOf(block))
}

/** As many prefixes are left of a block as its exceptions have bits, at most. */
export function mostPartsOf({ prefix, except }: AddressBlock): number {
  return except.reduce((sum, one) => sum + one.prefixLength - prefix.prefixLength, 0)
}

/** What is left of a block: prefixes that have nothing in common; nothing where there are more than {@link mostParts}. */
export function partsOf({ prefix, except }: AddressBlock): readonly Cidr[] | undefined {
  const parts: Cidr[] = []
  // Halves that are not decided yet, with the exceptions that have something in common with each.
  const open = [{ prefix, except }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { prefix: part, except: within } = next
    if (within.length === 0) {
      if (parts.push(part) > mostParts) return undefined
    } else if (!within.some((one) => covers(one, part))) {
      const halves = halvesOf(part).map((half) => ({
        prefix: half,
        except: within.filter((one) => overlaps(one, half)),
      }))
      open.push(...halves.reverse())
    }
  }
  return parts
}

function covers(outer: Cidr, inner: Cidr): boolean {
  return outer.prefixLength <= inner.prefixLength && contains(outer, inner.network)
}

function halvesOf(prefix: Cidr): readonly Cidr[] {
  const length = prefix.prefixLength + 1
  return [cidrOf(prefix.network, length), cidrOf(lastAddress(prefix), length)]
}
