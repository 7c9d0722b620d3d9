import { once } from 'node:events'
import { startAt, type LabNode, type Place } from '@kube-ovn/lab'

/** A TCP packet that carried something. */
interface CarryingPacket {
  readonly ports: readonly number[]
  /** What of it can be read, with dots for the rest. */
  readonly text: string
}

/** Packets of a node to and from ports, as they come by on any of its links. */
export interface PacketCapture {
  /** Ends it, and yields the packets that carried something. */
  stop(): Promise<readonly CarryingPacket[]>
}

/** A tcpdump that listens. */
interface RunningCapture {
  /** What it has printed so far. */
  seen(): string
  /** Ends it, and yields all that it has printed. */
  stop(): Promise<string>
}

/** Starts to listen on a node; it does when this has resolved. */
export async function capturePackets(node: LabNode, ports: readonly number[]): Promise<PacketCapture> {
  const filter = ports.map((port) => `tcp port ${port}`).join(' or ')
  const capture = await startCapture(node.place, ['-A', '-s', '0', '-B', '65536', '-i', 'any', filter])
  return { stop: async () => parsePackets(await capture.stop()) }
}

/** Starts tcpdump with arguments of its own, without names for numbers; it listens when this has resolved. */
export async function startCapture(place: Place, args: readonly string[]): Promise<RunningCapture> {
  const child = startAt(place, ['tcpdump', '-n', '-l', ...args])
  const chunks: string[] = []
  child.stdout?.setEncoding('latin1').on('data', (text: string) => chunks.push(text))
  const listening = Promise.withResolvers<void>()
  let told = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    told += text
    if (told.includes('listening on')) listening.resolve()
  })
  const ended = once(child, 'close')
  void ended.then(() => listening.reject(new Error(`tcpdump ended: ${told}`)))
  await listening.promise
  const seen = (): string => chunks.join('')
  return {
    seen,
    async stop() {
      child.kill('SIGINT')
      await ended
      return seen()
    },
  }
}

const heading = /^\d\d:\d\d:\d\d\.\d+ /m
const tcp = /^.*?[.](?<from>\d+) > .*?[.](?<to>\d+): Flags .* length (?<length>\d+)$/m

/** Reads what `tcpdump -A -n` prints. */
function parsePackets(output: string): readonly CarryingPacket[] {
  return output.split(heading).flatMap((text) => {
    const { from, to, length } = tcp.exec(text)?.groups ?? {}
    return length === undefined || length === '0' ? [] : [{ ports: [Number(from), Number(to)], text }]
  })
}
