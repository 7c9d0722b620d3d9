import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Socket } from 'node:net'

let isThere = false

/**
 * Makes sure that the labs of this process go when it does, however it ends.
 *
 * Another process holds the end of a pipe that the kernel closes with this one. Signals of the terminal do not reach it.
 */
export function ensureReaper(): void {
  if (isThere) return
  isThere = true
  const reaper = spawn(process.execPath, [join(import.meta.dirname, 'reaper-process.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  reaper.unref()
  // A pipe to a child is a socket, which would keep this process alive.
  const pipe = reaper.stdin as Socket
  pipe.unref()
}
