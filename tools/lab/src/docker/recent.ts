import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** What was used so recently may be in use right now, by another lab. */
const settledMs = 3600 * 1000

/** Notes that a file or directory is used, for `removeLeastRecent`. */
export function markUsed(path: string): void {
  const now = new Date()
  utimesSync(path, now, now)
}

/**
 * Removes what was used longest ago from a directory of things that can be made again.
 *
 * @param kept how many stay at least; what was used within the last hour stays in any case
 */
export function removeLeastRecent(directory: string, kept: number): void {
  const entries = readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    const usedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    return usedMs === undefined ? [] : [{ path, usedMs }]
  })
  const surplus = entries.sort((a, b) => b.usedMs - a.usedMs).slice(kept)
  for (const { path, usedMs } of surplus)
    if (Date.now() - usedMs > settledMs) rmSync(path, { recursive: true, force: true })
}
