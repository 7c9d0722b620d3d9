import { posix } from 'node:path'
import type { ListEdit, PackageLink } from './skeleton.ts'

/** Packages of the workspace that a project needs, by name: their folders. */
export interface NeededPackages {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

type Section = keyof NeededPackages

const sections: readonly Section[] = ['dependencies', 'devDependencies']

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface NewDependency extends PackageLink {
  readonly section: Section
}

/** What a project lacks of what it needs. */
export function newDependencies(
  folder: string,
  manifest: Manifest,
  needed: NeededPackages,
): readonly NewDependency[] {
  const has = (name: string): boolean => sections.some((section) => manifest[section]?.[name] !== undefined)
  return sections.flatMap((section) =>
    Object.entries(needed[section])
      .filter(([name]) => !has(name))
      .map(([name, to]) => ({ section, from: folder, name, to })),
  )
}

/** Adds dependencies to the manifest of a project, and to the lock as pnpm would: the next installation takes nothing else. */
export function dependencyEdits(folder: string, lacking: readonly NewDependency[]): readonly ListEdit[] {
  if (lacking.length === 0) return []
  return [
    {
      path: `${folder}/package.json`,
      edit(text) {
        const present = JSON.parse(text) as Manifest
        const added: Partial<Record<Section, Readonly<Record<string, string>>>> = {}
        for (const section of sections) {
          const more = lacking
            .filter((one) => one.section === section)
            .map(({ name }) => [name, 'workspace:*'] as const)
          if (more.length > 0) added[section] = sorted({ ...present[section], ...Object.fromEntries(more) })
        }
        return JSON.stringify({ ...present, ...added })
      },
    },
    {
      path: 'pnpm-lock.yaml',
      edit: (text) => lacking.reduce((lock, one) => lockedWith(lock, folder, one), text),
    },
  ]
}

function lockedWith(text: string, folder: string, { section, name, to }: NewDependency): string {
  const entry = `      '${name}':\n        specifier: workspace:*\n        version: link:${posix.relative(folder, to)}\n`
  const importer = new RegExp(`^  ${folder}:\n(?:(?: {4}.*)\n)*`, 'm').exec(text)
  if (importer === null) return text
  const [block] = importer
  const header = `    ${section}:\n`
  const known = block.includes(header) ? block : `${block}${header}`
  const begin = known.indexOf(header) + header.length
  const own = /^(?: {6}.*\n)*/.exec(known.slice(begin))?.[0] ?? ''
  const entries = own.split(/^(?= {6}\S)/m).filter((one) => one !== '')
  const all = [...entries, entry].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).join('')
  const changed = known.slice(0, begin) + all + known.slice(begin + own.length)
  return text.slice(0, importer.index) + changed + text.slice(importer.index + block.length)
}

function keyOf(entry: string): string {
  return (entry.split('\n')[0] ?? '').replaceAll(/[ ':]/g, '')
}

function sorted(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
}
