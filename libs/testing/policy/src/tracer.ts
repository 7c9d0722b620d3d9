import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { portOf } from './compare.ts'
import type { CompiledWorld } from './compiled-world.ts'
import { sourcePort, type Endpoint, type Packet } from './packet.ts'

import { northboundOperations, outsidePort, tracedSwitch } from './rows/northbound-operations.ts'

/** What is no port of the world is behind the port `outside` of each switch. */
const strangerMac = { from: '0a:00:00:00:00:01', to: '0a:00:00:00:00:02' } as const

const mark = '--- next'

/** What is known of the connection of a packet: nothing, or that a rule has stopped it since it was opened. */
type Connection = 'new' | 'stopped'

/** A packet that goes into a switch by a port. */
interface Trace {
  readonly switch: string
  readonly flow: string
  /** What is said of it if it gets as far as it should. */
  readonly wanted: string
}

/** Asks OVN itself what becomes of packets: a real ovn-northd makes flows of the rows, and a running ovn-trace follows them. */
export class Tracer implements AsyncDisposable {
  readonly #northbound: Northbound
  #asked = 0

  private constructor(northbound: Northbound) {
    this.#northbound = northbound
  }

  static async start(): Promise<Tracer> {
    const northbound = await startNorthbound({ northd: true })
    return new Tracer(northbound)
  }

  /** Writes the rows of a world in the place of those before. */
  async write(seed: number, { rows }: CompiledWorld): Promise<void> {
    await this.#northbound.server.transact(northboundOperations(rows, seed))
    await this.#northbound.nbctl('--wait=sb', 'sync')
  }

  /** For each packet whether it comes out where it is to go, by all that is asked on its way in the world that was written. */
  async passes(
    seed: number,
    { rows }: CompiledWorld,
    packets: readonly Packet[],
    connection: Connection,
  ): Promise<readonly boolean[]> {
    const traces = packets.map((packet) => tracesOf(packet, rows, seed, connection))
    const outputs = await this.#ask(traces.flat(), connection)
    return traces.map((of) => of.every((trace) => outputs.get(trace)?.includes(trace.wanted)))
  }

  /** It reads the Southbound once, when it starts. */
  async #ask(traces: readonly Trace[], connection: Connection): Promise<ReadonlyMap<Trace, string>> {
    // One that was told to exit may still be there when the next one starts.
    const control = `/run/ovn/ovn-trace-${++this.#asked}.ctl`
    // It is so wherever it is tracked.
    const states = `--ct=${connection === 'new' ? 'new' : 'est'} `.repeat(4 * traces.length)
    const database = this.#northbound.southbound?.socket ?? ''
    const lines = [
      `ovn-trace ${states} --detach --no-chdir --unixctl=${control} --db=${database} 2>/dev/null`,
      ...traces.map(
        (trace) =>
          `ovs-appctl --timeout=20 -t ${control} trace --summary ${trace.switch} '${trace.flow}'\necho '${mark}'`,
      ),
      `ovs-appctl --timeout=20 -t ${control} exit`,
    ]
    const parts = (await this.#northbound.script(lines.join('\n'))).split(`${mark}\n`)
    return new Map(traces.map((trace, index) => [trace, parts[index] ?? '']))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#northbound[Symbol.asyncDispose]()
  }
}

type Rows = CompiledWorld['rows']

function tracesOf(packet: Packet, rows: Rows, seed: number, connection: Connection): readonly Trace[] {
  const [source, target] = [packet.from, packet.to].map((end) => switchOf(end, rows))
  const trace = (on: string, inport: string): Trace => ({
    switch: tracedSwitch(on, seed),
    flow: [
      flowOf(packet, inport, rows, on === target),
      ...(connection === 'stopped' ? ['ct_mark.blocked == 1'] : []),
    ].join(' && '),
    // What leaves the switch is judged where it comes in alone.
    wanted: on === target ? `/* output to "${to}"` : `outport="${outsidePort(on, seed)}"`,
  })
  const [from, to] = [portOf(packet.from), portOf(packet.to)]
  if (source !== undefined && source === target) return [trace(source, from)]
  return [
    ...(source === undefined ? [] : [trace(source, from)]),
    ...(target === undefined ? [] : [trace(target, outsidePort(target, seed))]),
  ]
}

function switchOf(end: Endpoint, { switches }: Rows): string | undefined {
  const port = portOf(end)
  return end.kind === 'pod' ? switches.find(({ ports }) => ports.includes(port))?.name : undefined
}

function flowOf(packet: Packet, inport: string, { ports }: Rows, isToTarget: boolean): string {
  const { family, from, to, protocol, port } = packet
  const macs = [
    ports.get(inport)?.[0] ?? strangerMac.from,
    (isToTarget ? ports.get(portOf(to))?.[0] : undefined) ?? strangerMac.to,
  ]
  const icmp = family === 4 ? 'icmp4.type == 8' : 'icmp6.type == 128 && icmp6.code == 0'
  return [
    `inport == "${inport}"`,
    `eth.src == ${macs[0]}`,
    `eth.dst == ${macs[1]}`,
    `ip${family}.src == ${from.address}`,
    `ip${family}.dst == ${to.address}`,
    'ip.ttl == 64',
    ...(protocol === 'icmp' ? [icmp] : [`${protocol}.src == ${sourcePort}`, `${protocol}.dst == ${port}`]),
  ].join(' && ')
}
