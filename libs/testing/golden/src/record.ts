import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { readCase, type GoldenCase, type Profile } from './golden-case.ts'
import type { PlayedStep } from './play-case.ts'
import { printDump } from './print-dump.ts'

/** A case that is to be recorded. */
export interface NewCase {
  /** Becomes the folder of the case; its last two parts are its name, `group/case`. */
  readonly directory: string
  readonly description: string
  readonly profile: Profile
  /** Appended to the controller's command line. */
  readonly flags: readonly string[]
  /** Manifests, one for each step: what `NAME-delete.yaml` holds is deleted, of `NAME-status.yaml` the status is patched in. */
  readonly manifests: readonly string[]
}

/** Makes the folder of a case, which must not be there yet, with its manifests as steps and without any dump. */
export async function createCase(wanted: NewCase): Promise<GoldenCase> {
  const { directory, description, profile, flags, manifests } = wanted
  await mkdir(dirname(directory), { recursive: true })
  await mkdir(directory)
  try {
    const file = {
      description,
      profile,
      ...(flags.length === 0 ? {} : { flags }),
      ...(manifests.length === 0 ? { base: true } : {}),
    }
    await writeFile(join(directory, 'case.json'), `${JSON.stringify(file, undefined, 1)}\n`)
    for (const [index, manifest] of manifests.entries()) {
      await copyFile(manifest, join(directory, stepFile(index, manifest)))
    }
    return await readCase(directory)
  } catch (error) {
    await rm(directory, { recursive: true })
    throw error
  }
}

/** Writes what was found after a step into the folder of its case. */
export async function recordStep({ directory }: GoldenCase, { step, found }: PlayedStep): Promise<void> {
  const folder = join(directory, step)
  await mkdir(folder, { recursive: true })
  for (const side of ['northbound', 'kubernetes'] as const) {
    await writeFile(join(folder, `${side}.json`), `${printDump(found[side])}\n`)
  }
}

/** Removes a case of which a recording failed halfway. */
export async function discardCase({ directory }: GoldenCase): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  const group = dirname(directory)
  if ((await readdir(group)).length === 0) await rm(group, { recursive: true })
}

/** `02-pods-delete.yaml` */
function stepFile(index: number, manifest: string): string {
  const name = basename(manifest, extname(manifest)).replace(/^\d\d-/, '')
  return `${String(index + 1).padStart(2, '0')}-${name}.yaml`
}
