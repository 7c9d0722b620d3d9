import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { flags } from './flags.ts'

/** Of the workspace. */
export const root = join(import.meta.dirname, '../../..')

/**
 * Writes a generated file unless it is as wanted; with `--check` says that it is stale, and the process will fail.
 *
 * @param generator whose `main.ts` makes it: a folder beside this file
 * @param path from the root of the workspace
 */
export function writeGenerated(generator: string, path: string, wanted: string): void {
  const file = join(root, path)
  if (existsSync(file) && readFileSync(file, 'utf8') === wanted) return
  if (flags.check) {
    fail(stale(generator, path))
    return
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, wanted)
  console.log(`${path} written`)
}

/** Removes a file that is generated no more; with `--check` says that it is stale. */
export function removeGenerated(generator: string, path: string): void {
  if (flags.check) {
    fail(stale(generator, path))
    return
  }
  rmSync(join(root, path))
  console.log(`${path} removed`)
}

/** Formats text as the rest of the workspace is. Its language follows from the name of the file. */
export async function formatted(path: string, text: string): Promise<string> {
  const filepath = join(root, path)
  return format(text, { ...(await resolveConfig(filepath)), filepath })
}

/** Says why, and lets the process end with 1. */
export function fail(reason: string): void {
  console.error(reason)
  process.exitCode = 1
}

function stale(generator: string, path: string): string {
  return `${path} is stale: run node tools/generate/src/${generator}/main.ts`
}
