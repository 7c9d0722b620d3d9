import { startAt, tryAt, type Place } from '../namespaces.ts'

/**
 * Pings many addresses of either family at once and returns those that answered, each within a second and three attempts.
 */
export async function pingAll(from: Place, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set()
  const { stdout } = await tryAt(from, ['fping', '-a', '-r', '2', '-t', '1000', ...addresses])
  return new Set(stdout.split('\n').filter((line) => line !== ''))
}

export interface PingLoss {
  readonly sent: number
  readonly received: number
}

/** A ping that runs until it is stopped, and tells what was lost meanwhile. */
export interface SteadyPing {
  stop(): Promise<PingLoss>
}

/**
 * Pings an address 20 times a second until stopped.
 *
 * The packet that is under way when it stops counts as received: ping ends between two packets.
 */
export function startPing(from: Place, address: string): SteadyPing {
  const child = startAt(from, ['ping', '-q', '-n', '-i', '0.05', '-W', '1', address])
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
      const [, sent = '0', received = '0'] = /(\d+) packets transmitted, (\d+) received/.exec(output) ?? []
      return { sent: Number(sent), received: Number(received) }
    },
  }
}
