import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { errorCode } from '@kube-ovn/errors'
import { inNamespace, type NamespaceReference } from '@kube-ovn/netlink'
import { NftCommandError, NftNotFoundError, NftNotStartedError } from './errors.ts'
import { openMemoryFile } from './memory-file.ts'

export interface NftInvocation {
  readonly nft: string
  readonly netns: NamespaceReference | undefined
  readonly args: readonly string[]
  readonly input?: string
  /** For errors: what is attempted. */
  readonly operation: string
}

/** Runs nft in a namespace and yields what it printed. */
export async function runNft(invocation: NftInvocation): Promise<string> {
  const { nft, operation } = invocation
  const child = startNft(invocation)
  const exited = new Promise<number | string>((resolve, reject) => {
    child.once('error', (cause) => reject(startFailure(nft, cause)))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'unknown'))
  })
  const [status, printed, complaint] = await Promise.all([exited, read(child.stdout), read(child.stderr)])
  if (status === 0) return printed
  throw new NftCommandError({ operation, status, nftMessage: complaint.trim() })
}

/** A node that has run out of something has it again without anybody telling; a command that is not there does not come. */
export function startFailure(command: string, cause: Error): NftNotFoundError | NftNotStartedError {
  const errno = errorCode(cause) ?? ''
  return errno === 'ENOENT' || errno === 'EACCES'
    ? new NftNotFoundError({ command }, { cause })
    : new NftNotStartedError({ command, errno }, { cause })
}

/** Node types the streams as absent when one of the three is a bare descriptor; they are there. */
async function read(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream)
}

function startNft({ nft, netns, args, input = '' }: NftInvocation): ChildProcess {
  const stdin = openMemoryFile(input)
  try {
    const start = (): ChildProcess =>
      spawn(nft, args, {
        stdio: [stdin, 'pipe', 'pipe'],
        // What it complains about is read, so it must be English.
        env: { ...process.env, LC_ALL: 'C' },
      })
    // A child begins in the namespace of the thread that forks it, so none of `ip netns exec` is needed.
    return netns === undefined ? start() : inNamespace(netns, start)
  } finally {
    closeSync(stdin)
  }
}
