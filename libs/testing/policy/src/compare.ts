import { compileWorld, type CompiledWorld } from './compiled-world.ts'
import { packetText, type Endpoint, type Packet } from './packet.ts'
import type { PolicyWorld } from './policy-world.ts'
import { randomPackets } from './random-packets.ts'
import { isAllowed } from './reference/verdict.ts'
import { RowJudge } from './rows/judge.ts'

/** For each end of a packet that is a pod, what the specification says of it, and what the rows do. */
export interface Comparison {
  readonly packet: Packet
  readonly direction: 'ingress' | 'egress'
  readonly specified: boolean
  readonly rows: string
}

/** Judges random packets of a world twice. */
export function compareWorld(
  world: PolicyWorld,
  packets: number,
): { readonly compiled: CompiledWorld; readonly compared: readonly Comparison[] } {
  const compiled = compileWorld(world)
  return { compiled, compared: compareCompiled(world, compiled, packets) }
}

/** Judges random packets of a world that is compiled already. */
export function compareCompiled(
  world: PolicyWorld,
  compiled: CompiledWorld,
  packets: number,
): readonly Comparison[] {
  const judge = new RowJudge(compiled.rows)
  const { flags, enableDnsNameResolver: followsNames = false } = world.settings
  const ways = { isLax: flags?.['npEnforcement'] === 'lax', followsNames }
  return randomPackets(world, compiled.objects, packets).flatMap((packet) =>
    (['egress', 'ingress'] as const).flatMap((direction): readonly Comparison[] => {
      const specified = isAllowed(compiled.objects, direction, packet, ways)
      if (specified === undefined) return []
      const port = portOf(direction === 'egress' ? packet.from : packet.to)
      return [{ packet, direction, specified, rows: judge.verdict(direction, port, packet) }]
    }),
  )
}

/** Packets of {@link compareCompiled} that rows let through at ports that there are already, and nothing allows. */
export function openingsOf(world: PolicyWorld, compiled: CompiledWorld, packets: number): readonly string[] {
  const ports = new Set(compiled.rows.switches.flatMap((one) => one.ports))
  const early = compareCompiled(world, compiled, packets).filter(({ direction, packet, specified }) => {
    const end = direction === 'egress' ? packet.from : packet.to
    return !specified && ports.has(portOf(end))
  })
  return differencesOf(world, early)
}

/** The logical port of a pod's NIC. */
export function portOf(end: Endpoint): string {
  if (end.kind !== 'pod') return ''
  const { name, namespace, provider } = end
  return [name, namespace, ...(provider === undefined ? [] : [provider])].join('.')
}

/** Comparisons in which both do not say the same, to be read. */
export function differencesOf({ seed }: PolicyWorld, compared: readonly Comparison[]): readonly string[] {
  return compared
    .filter(({ specified, rows }) => rows !== (specified ? 'allow' : 'deny'))
    .map(
      ({ packet, direction, specified, rows }) =>
        `seed ${seed}: ${direction} of ${packetText(packet)}: specified ${specified ? 'allow' : 'deny'}, rows ${rows}`,
    )
}
