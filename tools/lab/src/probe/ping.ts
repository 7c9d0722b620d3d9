import { namespaceOf, startAt, type Place } from '../namespaces.ts'
import { runAttempt } from './attempt.ts'
import { Sightings } from './sightings.ts'

/**
 * Pings many addresses of either family at once and returns those that answered, each within three seconds and three attempts.
 */
export async function pingAll(from: Place, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const netns = namespaceOf(from)
  const sightings = new Sightings()
  const outcomes = await Promise.all(
    addresses.map((target) =>
      runAttempt({ netns, target, port: 0, protocol: 'ping', isOurs: false, timeoutMs: 3000 }, sightings),
    ),
  )
  return new Set(addresses.filter((_, index) => outcomes[index]?.kind === 'reached'))
}

/** What became of the packets of a ping. */
export interface PingLoss {
  readonly sent: number
  /** Sequence numbers, from 1, that no answer came for. */
  readonly lost: readonly number[]
}

/** A ping that runs until it is stopped, and tells what was lost meanwhile. */
export interface SteadyPing {
  stop(): Promise<PingLoss>
}

/**
 * Pings an address 20 times a second until stopped.
 *
 * The last packet does not count: it may be under way when ping is stopped.
 */
export function startPing(from: Place, address: string): SteadyPing {
  const child = startAt(from, ['ping', '-n', '-i', '0.05', '-W', '1', address])
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  return {
    async stop() {
      child.kill('SIGINT')
      await ended
      return readPing(output)
    },
  }
}

/** Reads what ping printed when it was stopped. */
export function readPing(output: string): PingLoss {
  const sent = Number(/(\d+) packets transmitted/.exec(output)?.[1] ?? 0)
  const answered = new Set(
    [...output.matchAll(/bytes from .*icmp_seq=(\d+)/g)].map(([, sequence]) => Number(sequence)),
  )
  const counted = answered.has(sent) ? sent : Math.max(0, sent - 1)
  const all = Array.from({ length: counted }, (_, index) => index + 1)
  return { sent: counted, lost: all.filter((sequence) => !answered.has(sequence)) }
}
