import { runAt, type LabNode, type Place } from '@kube-ovn/lab'
import { expect } from 'vitest'

/** Sends a packet on each of many connections to an address, which nobody answers. */
export async function sendFlows(place: Place, to: string): Promise<void> {
  await runAt(place, ['bash', '-c', `for port in {9000..9031}; do echo > /dev/udp/${to}/$port; done`])
}

/** How many packets to addresses came from the physical network to each node while something was done. */
export async function countEntering(
  nodes: readonly LabNode[],
  to: readonly string[],
  action: () => Promise<void>,
): Promise<readonly number[]> {
  const rules = to.map((address) => `${address.includes(':') ? 'ip6' : 'ip'} daddr ${address} counter`)
  for (const { place } of nodes)
    await runAt(place, ['nft', '-f', '-'], {
      input: `table inet suite { chain entering { type filter hook prerouting priority -400; iifname != phys0 return; ${rules.join('; ')}; }; }\n`,
    })
  try {
    await action()
    return await Promise.all(
      nodes.map(async ({ place }) => {
        const text = await runAt(place, ['nft', 'list', 'table', 'inet', 'suite'])
        return [...text.matchAll(/packets (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
      }),
    )
  } finally {
    for (const { place } of nodes) await runAt(place, ['nft', 'delete', 'table', 'inet', 'suite'])
  }
}

/** How long something took to be seen, and how long the longest look at it took: how fast the machine is at that moment. */
export interface Seen {
  readonly ms: number
  readonly lookMs: number
}

/** Does something, and looks until it has had its effect. */
export async function timed<T>(
  action: () => Promise<unknown>,
  look: () => Promise<T>,
  wanted: T,
): Promise<Seen> {
  let lookMs = 0
  const startedMs = performance.now()
  await action()
  await expect
    .poll(
      async () => {
        const beganMs = performance.now()
        const found = await look()
        lookMs = Math.max(lookMs, performance.now() - beganMs)
        return found
      },
      { timeout: 60_000, interval: 20 },
    )
    .toEqual(wanted)
  return { ms: performance.now() - startedMs, lookMs }
}

/**
 * Expects effects within some time, from the request on, and beside the look that shows them. One of three may fall into a pause of the
 * machine.
 */
export function expectWithin(mostMs: number, what: string, times: readonly Seen[]): void {
  const sorted = told(mostMs, what, times)
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(mostMs)
}

/** Expects it of each of them. */
export function expectEachWithin(mostMs: number, what: string, times: readonly Seen[]): void {
  expect(Math.max(...told(mostMs, what, times))).toBeLessThanOrEqual(mostMs)
}

/** Says how long it took, and returns what counts of it, in order. */
function told(mostMs: number, what: string, times: readonly Seen[]): readonly number[] {
  const shown = times.map(({ ms, lookMs }) => `${Math.round(ms)} (looks of ${Math.round(lookMs)})`)
  console.log(`${what} after ${shown.join(', ')} ms, of ${mostMs} at most`)
  return times.map(({ ms, lookMs }) => ms - lookMs).toSorted((a, b) => a - b)
}
