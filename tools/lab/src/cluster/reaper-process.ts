import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { passStrayPackets } from '../uplink/stray-packets.ts'
import { removeLab, removeLeftovers } from './leftovers.ts'

/** Within which the engine carries out what it was asked for last; ms. */
const lastRequestsMs = 2_000

/** Labs that are to be kept once they are complete. */
const incomplete = new Set<string>()

for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line) as { readonly incomplete?: string; readonly complete?: string }
  if (told.incomplete !== undefined) incomplete.add(told.incomplete)
  if (told.complete !== undefined) incomplete.delete(told.complete)
}
await removeWhatIsLeft()
await delay(lastRequestsMs)
await removeWhatIsLeft()
passStrayPackets()

async function removeWhatIsLeft(): Promise<void> {
  await removeLeftovers()
  for (const id of incomplete) await removeLab(id)
}
