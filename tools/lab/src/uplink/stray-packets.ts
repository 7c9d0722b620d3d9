import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { labRanges } from '../cluster/topology.ts'

/** The ranges that networks of labs are cut from, by the flag that ip(8) has for their family. */
const ranges = [
  ['-4', labRanges.ipv4],
  ['-6', labRanges.ipv6],
] as const

let isRegistered = false

/**
 * Has the kernel drop packets for labs that are not there. Without a route of their own they would go to the default gateway, when
 * somebody still asks for a lab that has just been removed.
 *
 * Networks of labs have longer prefixes, so nothing changes for them; a route for the whole range that somebody else has made stays. The routes go when this process exits and no lab is left; if it is
 * killed, its reaper takes them away.
 */
export function dropStrayPackets(): void {
  for (const [family, range] of usableRanges()) addRoute(family, range)
  if (isRegistered) return
  isRegistered = true
  process.once('exit', passStrayPackets)
}

/** Takes the routes away, unless there is still a lab. */
export function passStrayPackets(): void {
  for (const [family, range] of usableRanges()) {
    const routes = JSON.parse(ip('-json', family, 'route', 'show', 'root', range) || '[]') as {
      type?: string
    }[]
    const isOurs = ({ type }: { type?: string }): boolean => type === 'blackhole'
    if (routes.some(isOurs) && routes.every(isOurs)) deleteRoute(family, range)
  }
}

/** There may be one already, of another lab or of somebody to whom the range is known. */
function addRoute(family: string, range: string): void {
  try {
    ip(family, 'route', 'add', 'blackhole', range)
  } catch (error) {
    if (!String(error).includes('File exists')) throw error
  }
}

/** Another process that ends now may be faster. */
function deleteRoute(family: string, range: string): void {
  try {
    ip(family, 'route', 'delete', 'blackhole', range)
  } catch (error) {
    if (!String(error).includes('No such process')) throw error
  }
}

function usableRanges(): readonly (typeof ranges)[number][] {
  return ranges.filter(([family]) => family === '-4' || existsSync('/proc/net/if_inet6'))
}

function ip(...args: readonly string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
