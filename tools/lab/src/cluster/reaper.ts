import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Socket } from 'node:net'

let pipe: Socket | undefined

/**
 * Makes sure that the labs of this process go when it does, however it ends.
 *
 * Another process holds the end of a pipe that the kernel closes with this one. Signals of the terminal do not reach it.
 */
export function ensureReaper(): Socket {
  if (pipe !== undefined) return pipe
  const reaper = spawn(process.execPath, [join(import.meta.dirname, 'reaper-process.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  reaper.unref()
  // A pipe to a child is a socket, which would keep this process alive.
  pipe = reaper.stdin as Socket
  pipe.unref()
  return pipe
}

/**
 * Has a lab that is to outlive this process removed all the same if this process ends before the lab is complete.
 *
 * @returns what is to be called when it is complete
 */
export function reapUntilComplete(id: string): () => void {
  const reaper = ensureReaper()
  reaper.write(`${JSON.stringify({ incomplete: id })}\n`)
  return () => {
    reaper.write(`${JSON.stringify({ complete: id })}\n`)
  }
}
