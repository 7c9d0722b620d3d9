import { familyOfText, type ProbeFamily, type Protocol } from '../probe/question.ts'
import type { Expectation, MatrixRule } from './declaration.ts'
import type { Endpoint } from './endpoints.ts'

/** One question of a matrix: does this reach that, this way? */
export interface Cell {
  readonly rule: string
  readonly from: Endpoint
  readonly to: Endpoint
  readonly family: ProbeFamily
  readonly protocol: Protocol
  readonly target: string
  readonly port: number
  readonly expect: Expectation
  readonly dscp?: number
  readonly lookup?: string
}

/** Where listeners of ours wait if a rule names no port: outside of the range that Linux takes ports of clients from. */
export const listenerPort = 18_080
const dnsPort = 53

/**
 * Lays out the cells of a rule: everybody to everybody else, in each family that both have. A pair whose ends share no family has none.
 */
export function planCells(
  rule: MatrixRule,
  from: readonly Endpoint[],
  to: readonly Endpoint[],
): readonly Cell[] {
  const pairs = from.flatMap((source) =>
    to.filter((target) => target.name !== source.name).map((target) => ({ source, target })),
  )
  return pairs.flatMap(({ source, target }) =>
    rule.families.flatMap((family) => {
      const addresses = target.addresses.filter((address) => familyOfText(address) === family)
      if (!source.addresses.some((address) => familyOfText(address) === family)) return []
      return addresses.flatMap((address) =>
        rule.by.map((protocol) => ({
          rule: rule.name ?? describe(rule),
          from: source,
          to: target,
          family,
          protocol,
          target: address,
          port: rule.port ?? target.port ?? (protocol === 'dns' ? dnsPort : listenerPort),
          expect: rule.expect,
          ...(rule.dscp === undefined ? {} : { dscp: rule.dscp }),
          ...(rule.lookup === undefined ? {} : { lookup: rule.lookup }),
        })),
      )
    }),
  )
}

/** A name for a rule that has none. */
function describe({ from, to, expect }: MatrixRule): string {
  const wanted =
    expect === 'reach'
      ? 'reach'
      : expect === 'no-reach'
        ? 'do not reach'
        : `reach, from source ${expect.source},`
  return `${from.map(nameOf).join(', ')} ${wanted} ${to.map(nameOf).join(', ')}`
}

function nameOf(party: MatrixRule['from'][number]): string {
  if (typeof party === 'string') return party
  if ('service' in party) return `service ${party.namespace}/${party.service}`
  if ('address' in party) return party.name ?? party.address
  return party.pods === '' ? `pods of ${party.namespace}` : `pods ${party.pods} of ${party.namespace}`
}
