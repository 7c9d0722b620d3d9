import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { namespaceOf, startAt, type Place } from '../namespaces.ts'
import { askHere } from './ask.ts'

/**
 * Pings many addresses of either family at once and returns those that answered, each within three seconds and three attempts.
 */
export async function pingAll(from: Place, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const netns = namespaceOf(from)
  const outcomes = await askHere(
    addresses.map((target) => ({ netns, target, port: 0, protocol: 'ping', isOurs: false, timeoutMs: 3000 })),
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
  /** Resolves when it is known of the first packet whether it was answered. */
  started(): Promise<void>
  /** The number of the last packet of which anything is known. */
  sent(): number
  /** The number of the last packet that is known to have been answered; 0 before the first. */
  answered(): number
  /** Resolves when it is known of so many more packets whether they were answered, or it has ended. */
  more(packets: number): Promise<void>
  stop(): Promise<PingLoss>
}

/** How long the answer to the last packet may take, also on a machine with other things to do; ms. */
const patienceMs = 10_000
/** After which a ping that says nothing hangs; ms. */
const hangingMs = 120_000

/**
 * Pings an address until stopped, 20 times a second where nothing else is asked for.
 *
 * Packets count up to the one that was sent last when it is stopped; it ends when all of them are answered, or the last has had its time.
 */
export function startPing(from: Place, address: string, intervalMs = 50): SteadyPing {
  // -O names a packet that was not answered when the next one is sent.
  const interval = String(intervalMs / 1000)
  const child = startAt(from, ['ping', '-n', '-O', '-i', interval, '-W', '1', address])
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  /** Waits for what it says, until something holds, it has ended, or the time is up. */
  async function until(isMet: () => boolean, timeoutMs: number): Promise<void> {
    const patience = AbortSignal.timeout(timeoutMs)
    while (!patience.aborted && child.exitCode === null && !isMet())
      await Promise.race([
        ended,
        once(child.stdout ?? child, 'data', { signal: patience }).catch(() => undefined),
      ])
  }
  return {
    started: () => until(() => lastSequence(output) > 0, hangingMs),
    sent: () => lastSequence(output),
    answered: () => lastSequence(output, /bytes from .*icmp_seq=(\d+)/g),
    async more(packets) {
      // What it has said by now is read first.
      await nextTurn()
      const wanted = lastSequence(output) + packets
      await until(() => lastSequence(output) >= wanted, hangingMs)
    },
    async stop() {
      const sent = lastSequence(output)
      await until(() => readPing(output, sent).lost.length === 0, patienceMs)
      child.kill('SIGINT')
      await ended
      return readPing(output, sent)
    },
  }
}

/** The number of the last packet that ping has named, in this way where one is given. */
function lastSequence(output: string, named = /icmp_seq=(\d+)/g): number {
  return Math.max(0, ...[...output.matchAll(named)].map(([, sequence]) => Number(sequence)))
}

/** Reads which of the first so many packets were answered, by what ping has printed. */
export function readPing(output: string, sent: number): PingLoss {
  const answered = new Set(
    [...output.matchAll(/bytes from .*icmp_seq=(\d+)/g)].map(([, sequence]) => Number(sequence)),
  )
  const all = Array.from({ length: sent }, (_, index) => index + 1)
  return { sent, lost: all.filter((sequence) => !answered.has(sequence)) }
}
