import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * Makes a file have this content and mode, atomically: a reader sees the old file or the new one, never half of it.
 *
 * Writes nothing when it is so already; answers whether anything was written. An executable that is running can be
 * replaced, because its file is another one then.
 */
export function replaceFile(path: string, content: string | Buffer, mode: number): boolean {
  const wanted = typeof content === 'string' ? Buffer.from(content) : content
  if (isEqual(path, wanted, mode)) return false
  const temporary = `${path}.tmp.${process.pid}`
  try {
    const descriptor = openSync(temporary, 'w', mode)
    try {
      for (let offset = 0; offset < wanted.length;) offset += writeSync(descriptor, wanted, offset)
      // Or else a crash of the machine could leave an empty file under the final name.
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    chmodSync(temporary, mode)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  return true
}

function isEqual(path: string, wanted: Buffer, mode: number): boolean {
  const state = statSync(path, { throwIfNoEntry: false })
  if (state === undefined || !state.isFile()) return false
  return (state.mode & 0o7777) === mode && state.size === wanted.length && readFileSync(path).equals(wanted)
}

/** Removes what a crash in {@link replaceFile} leaves of files with these names. */
export function removeTemporaryFiles(directory: string, names: readonly string[]): void {
  for (const file of readdirSync(directory)) {
    if (names.some((name) => file.startsWith(`${name}.tmp.`))) rmSync(join(directory, file), { force: true })
  }
}
