import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { onTestFailed } from 'vitest'

/** Yields files of a bundle: their contents by their paths in it. */
type BundleSource = () => Promise<Readonly<Record<string, string>>>

/** Sources by names, which stand for those that fail. */
type BundleSources = Readonly<Record<string, BundleSource>>

/** Long enough for a slow machine, and short enough that a source that hangs does not hide that the test failed. */
const SOURCE_MS = 60_000

/** To be called within a test or in `beforeEach`: if the test fails, leaves a bundle and prints its path. */
export function leaveBundleOnFailure(sources: BundleSources): void {
  onTestFailed(async ({ task }) => {
    const name = `${task.file.name} ${task.fullTestName}`
    await leaveBundle(name, task.result?.errors ?? [], sources)
  }, 2 * SOURCE_MS)
}

/** Does something that is no test, e.g. in `beforeAll`; if it throws, leaves a bundle and prints its path. */
export async function leaveBundleIfThrows<T>(
  name: string,
  sources: BundleSources,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action()
  } catch (error) {
    await leaveBundle(name, [error], sources)
    throw error
  }
}

async function leaveBundle(name: string, errors: readonly unknown[], sources: BundleSources): Promise<void> {
  const directory = join(resultsDirectory(), 'failed', folderName(name))
  await rm(directory, { recursive: true, force: true })
  await write(directory, 'failure.txt', `${[name, ...errors.map(describe)].join('\n\n')}\n`)
  await Promise.all(
    Object.entries(sources).map(async ([source, read]) => {
      const files = await inTime(read).catch((error: unknown) => ({
        [`${source}.error.txt`]: describe(error),
      }))
      for (const [path, content] of Object.entries(files)) await write(directory, path, content)
    }),
  )
  process.stderr.write(`what there was when the test failed: ${directory}\n`)
}

async function inTime(read: BundleSource): ReturnType<BundleSource> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${SOURCE_MS / 1000} s`)), SOURCE_MS)
  try {
    return await Promise.race([read(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function resultsDirectory(): string {
  return process.env['KUBE_OVN_TEST_RESULTS'] ?? join(import.meta.dirname, '../../../../test-results')
}

/** Readable, short enough for a file system, and another one for each name. */
function folderName(name: string): string {
  const words = name.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
  return `${words.slice(0, 100)}-${createHash('sha256').update(name).digest('hex').slice(0, 6)}`
}

/** Vitest hands errors over as plain objects. Ours say in `details` what it is about. */
function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error)) return inspect(error, { depth: 5 })
  const details = 'details' in error ? [inspect(error.details, { depth: 5 })] : []
  return [String(error.stack), ...details].join('\n\n')
}

async function write(directory: string, path: string, content: string): Promise<void> {
  const file = join(directory, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}
