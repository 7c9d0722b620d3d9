import { closeSync, writeSync } from 'node:fs'
import { errnoName, libcFunction } from '@kube-ovn/netlink'

const createMemoryFile = libcFunction<[name: string, flags: number]>(
  'int memfd_create(const char *name, unsigned int flags)',
)

/** MFD_CLOEXEC: children get it only as the stdin they are given. */
const closeOnExec = 1

/**
 * Puts text into a file that has no name and is gone when nobody has it open; the caller closes the descriptor.
 *
 * It stands in for a pipe to a child: what Node calls a pipe is a socket, and nft (1.0.6), which opens `/dev/stdin` by name,
 * cannot open a socket.
 */
export function openMemoryFile(content: string): number {
  const descriptor = createMemoryFile('nft-input', closeOnExec)
  if (descriptor < 0) throw new Error(`memfd_create failed: ${errnoName(descriptor)}`)
  try {
    const bytes = Buffer.from(content)
    // At explicit positions, so that a reader of the descriptor itself starts at the beginning.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, at)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}
