import { predicate, transportPort, transportPorts, type Match, type Transport } from '@kube-ovn/ovn-match'
import type { PolicyPort, PolicyRule } from './rules.ts'

/** What a rule says of ports; a single `undefined` for all of them, and nothing where no port of its has a number. */
export function portMatches(
  { ports }: Pick<PolicyRule, 'ports'>,
  numbersOf: (protocol: Transport, name: string) => readonly number[],
): readonly (Match | undefined)[] {
  if (ports === undefined) return [undefined]
  return ports.flatMap((port): readonly Match[] =>
    port.kind === 'named'
      ? numbersOf(port.protocol, port.name).map((number) => transportPort(`${port.protocol}.dst`, number))
      : [portMatch(port)],
  )
}

function portMatch(port: Exclude<PolicyPort, { readonly kind: 'named' }>): Match {
  if (port.kind === 'any') return predicate(port.protocol)
  const field = `${port.protocol}.dst` as const
  return port.from === port.to ? transportPort(field, port.from) : transportPorts(field, port.from, port.to)
}
