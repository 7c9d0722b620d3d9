import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { passStrayPackets } from '../uplink/stray-packets.ts'
import { removeLeftovers } from './leftovers.ts'

/** Within which the engine carries out what it was asked for last; ms. */
const lastRequestsMs = 2_000

process.stdin.resume()
await once(process.stdin, 'end')
await removeLeftovers()
await delay(lastRequestsMs)
await removeLeftovers()
passStrayPackets()
