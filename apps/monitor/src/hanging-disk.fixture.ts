import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Why there can be no hanging disk here; `undefined` when there can. */
export const missingForHangingDisk = existsSync('/dev/fuse') ? undefined : 'the kernel has no FUSE'

export interface HangingDisk extends AsyncDisposable {
  readonly path: string
}

/** A file system on which every question hangs until it goes: one in userspace, whose server never says a word. */
export async function openHangingDisk(): Promise<HangingDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'hanging-'))
  const mount = `mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hanging ${directory}`
  // In a namespace of its own, which ends with it.
  const script = `exec 3<>/dev/fuse && ${mount} && echo mounted && exec sleep infinity`
  const server = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  const { done } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
  if (done === true) throw new Error(`no file system could be mounted at ${directory}`)
  return {
    path: `/proc/${server.pid}/root${directory}`,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await ended
      await rmdir(directory)
    },
  }
}
