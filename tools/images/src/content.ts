import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A file or directory of a build context. */
export interface ContextEntry {
  /** Where it is now. */
  readonly from: string
  /** Where it is to be in the context. */
  readonly to: string
  /** Stands for the content, for what is large and known by its version. */
  readonly identity?: string
}

/** Hashes names, modes and contents of a context, and what else the build depends on. */
export async function contextHash(
  entries: readonly ContextEntry[],
  buildArguments: Readonly<Record<string, string>>,
): Promise<string> {
  const hash = createHash('sha256')
  hash.update(JSON.stringify(buildArguments))
  for (const entry of entries) {
    if (entry.identity !== undefined) {
      hash.update(JSON.stringify([entry.to, entry.identity]))
      continue
    }
    for (const file of await filesOf(entry.from)) {
      const { mode } = await stat(join(entry.from, file))
      hash.update(JSON.stringify([entry.to, file, mode & 0o111]))
      hash.update(await readFile(join(entry.from, file)))
    }
  }
  return hash.digest('hex')
}

/** Copies a context into a directory. */
export async function assembleContext(entries: readonly ContextEntry[], directory: string): Promise<void> {
  for (const { from, to } of entries) {
    const target = join(directory, to)
    await mkdir(dirname(target), { recursive: true })
    await cp(from, target, { recursive: true, dereference: true })
  }
}

/** All files below a path in a stable order; the path itself, as an empty name, when it is a file. */
async function filesOf(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return ['']
  const found = await readdir(path, { recursive: true, withFileTypes: true })
  return found
    .filter((file) => !file.isDirectory())
    .map((file) => join(file.parentPath, file.name).slice(path.length + 1))
    .sort()
}
