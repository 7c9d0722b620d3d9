import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { KubeObject } from '@kube-ovn/kube'
import { parseAllDocuments } from 'yaml'

const profiles = ['dual', 'v4', 'v6'] as const

/** Families of a cluster. */
export type Profile = (typeof profiles)[number]

export function isProfile(text: string): text is Profile {
  return profiles.some((profile) => profile === text)
}

/** A manifest that names its kind. */
export type Manifest = KubeObject & {
  readonly apiVersion: string
  readonly kind: string
  readonly status?: unknown
}

/** One file of a case, and what is done with its objects. */
export interface Step {
  /** Two digits; the dumps after the step are in the folder of this name. */
  readonly id: string
  readonly action: 'apply' | 'delete' | 'patch-status'
  readonly objects: readonly Manifest[]
}

/** A recorded case of the original. */
export interface GoldenCase {
  /** `group/case`. */
  readonly name: string
  readonly directory: string
  readonly description: string
  readonly profile: Profile
  /** Appended to the controller's command line. */
  readonly flags: readonly string[]
  readonly nodes: number
  /** Whether the state before the first step was recorded, as step `00`. */
  readonly hasStart: boolean
  readonly steps: readonly Step[]
}

interface CaseFile {
  readonly description?: string
  readonly profile?: Profile
  readonly flags?: readonly string[]
  readonly nodes?: number
  readonly base?: boolean
}

/** Finds all cases in a folder and below, in the order of their names. */
export async function findCases(directory: string): Promise<readonly GoldenCase[]> {
  const entries = await readdir(directory, { recursive: true })
  const folders = entries.filter((entry) => basename(entry) === 'case.json').map((entry) => dirname(entry))
  return Promise.all(folders.sort().map((folder) => readCase(join(directory, folder))))
}

/** Reads one case. */
export async function readCase(folder: string): Promise<GoldenCase> {
  const directory = resolve(folder)
  const file = JSON.parse(await readFile(join(directory, 'case.json'), 'utf8')) as CaseFile
  const manifests = (await readdir(directory)).filter((entry) => /^\d\d-.*\.yaml$/.test(entry)).sort()
  return {
    name: `${basename(dirname(directory))}/${basename(directory)}`,
    directory,
    description: file.description ?? '',
    profile: file.profile ?? 'dual',
    flags: file.flags ?? [],
    nodes: file.nodes ?? 3,
    hasStart: file.base === true || manifests.length === 0,
    steps: await Promise.all(manifests.map((entry) => readStep(directory, entry))),
  }
}

async function readStep(directory: string, file: string): Promise<Step> {
  const text = await readFile(join(directory, file), 'utf8')
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null)
  return {
    id: file.slice(0, 2),
    action: file.includes('-delete') ? 'delete' : file.includes('-status') ? 'patch-status' : 'apply',
    objects: documents.filter((manifest) => manifest !== null),
  }
}
