import {
  or,
  predicate,
  transportPort,
  transportPortIn,
  transportPorts,
  type Match,
  type Transport,
} from '@kube-ovn/ovn-match'
import { mostFlowsApart, portFlows } from './flow-budget.ts'
import type { PolicyPort, PolicyRule } from './rules.ts'

/** Numbers of a protocol, both ends included; none for all of them. */
interface PortSpan {
  readonly protocol: Transport
  readonly numbers: readonly [from: number, to: number] | undefined
}

/**
 * What a rule says of ports, for an ACL each; a single `undefined` for all of them, and nothing where no port of its has a number.
 *
 * @param peers how many it is about, or what they count for; ports of a protocol are in one ACL where they come to too many rules for so many
 */
export function portMatches(
  { ports }: Pick<PolicyRule, 'ports'>,
  numbersOf: (protocol: Transport, name: string) => readonly number[],
  peers: number,
): readonly (Match | undefined)[] {
  if (ports === undefined) return [undefined]
  const spans = ports.flatMap((port) => spansOf(port, numbersOf))
  const flows = spans.reduce(
    (sum, { numbers }) => sum + (numbers === undefined ? 1 : portFlows(...numbers)),
    0,
  )
  if (spans.length === 1 || peers * flows <= mostFlowsApart) return spans.map(portMatch)
  return [...Map.groupBy(spans, ({ protocol }) => protocol)].map(([protocol, of]) => together(protocol, of))
}

function spansOf(
  port: PolicyPort,
  numbersOf: (protocol: Transport, name: string) => readonly number[],
): readonly PortSpan[] {
  const { protocol } = port
  if (port.kind === 'any') return [{ protocol, numbers: undefined }]
  if (port.kind === 'numbers') return [{ protocol, numbers: [port.from, port.to] }]
  return numbersOf(protocol, port.name).map((number) => ({ protocol, numbers: [number, number] }))
}

function portMatch({ protocol, numbers }: PortSpan): Match {
  if (numbers === undefined) return predicate(protocol)
  const field = `${protocol}.dst` as const
  const [from, to] = numbers
  return from === to ? transportPort(field, from) : transportPorts(field, from, to)
}

/** Any of several ports of a protocol, each number once. */
function together(protocol: Transport, spans: readonly PortSpan[]): Match {
  const numbers = spans.map((span) => span.numbers)
  if (!numbers.every((one) => one !== undefined)) return predicate(protocol)
  const merged: [from: number, to: number][] = []
  for (const [from, to] of numbers.toSorted(([one], [other]) => one - other)) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  const field = `${protocol}.dst` as const
  const [single, ...singles] = merged.flatMap(([from, to]) => (from === to ? [from] : []))
  const [first, ...more] = [
    ...(single === undefined ? [] : [transportPortIn(field, [single, ...singles])]),
    ...merged.flatMap(([from, to]) => (from === to ? [] : [transportPorts(field, from, to)])),
  ]
  return first === undefined ? predicate(protocol) : or(first, ...more)
}
