import { globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The checkout that this file is in. */
export const repository = resolve(import.meta.dirname, '../../..')

/** A project of the workspace. */
export interface WorkspacePackage {
  readonly name: string
  /** Relative to the repository. */
  readonly directory: string
  readonly tags: readonly string[]
}

interface PackageJson {
  readonly name: string
  readonly nx?: { readonly tags?: readonly string[] }
}

/** Reads what the projects call themselves, and their tags. */
export function workspacePackages(): readonly WorkspacePackage[] {
  return globSync('{apps/*,libs/*/*,tools/*}/package.json', { cwd: repository })
    .toSorted()
    .map((path) => {
      const { name, nx } = JSON.parse(readFileSync(resolve(repository, path), 'utf8')) as PackageJson
      return { name, directory: dirname(path), tags: nx?.tags ?? [] }
    })
}
