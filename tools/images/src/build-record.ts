import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { programsDirectory, repository } from './paths.ts'

interface Recorded {
  readonly settings: string
  /** Hash of each input by its path in the checkout. */
  readonly inputs: Readonly<Record<string, string | undefined>>
}

/** Remembers what a build was made of, so that it is done again only when something of that has changed. */
export class BuildRecord {
  readonly #path: string
  readonly #settings: string

  /** @param settings everything beside the inputs that the outcome depends on */
  constructor(name: string, settings: unknown) {
    this.#path = join(programsDirectory, `.${name}.json`)
    // Other versions of the builders come with another lock file.
    this.#settings = JSON.stringify(settings)
  }

  /** Tells whether the outputs are there and nothing has changed since. */
  async isCurrent(outputs: readonly string[]): Promise<boolean> {
    if (!existsSync(this.#path)) return false
    if (!outputs.every((output) => existsSync(join(programsDirectory, output)))) return false
    const recorded = JSON.parse(await readFile(this.#path, 'utf8')) as Recorded
    if (recorded.settings !== this.#settings) return false
    const present = await hashes(Object.keys(recorded.inputs))
    return Object.entries(recorded.inputs).every(([path, hash]) => present[path] === hash)
  }

  async write(inputs: readonly string[]): Promise<void> {
    const recorded: Recorded = {
      settings: this.#settings,
      inputs: await hashes([...inputs, 'pnpm-lock.yaml']),
    }
    await writeFile(this.#path, JSON.stringify(recorded))
  }
}

async function hashes(paths: readonly string[]): Promise<Record<string, string | undefined>> {
  const entries = paths.map(async (path) => {
    const content = await readFile(join(repository, path)).catch(() => undefined)
    return [
      path,
      content === undefined ? undefined : createHash('sha256').update(content).digest('hex'),
    ] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}
