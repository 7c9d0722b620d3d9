import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SkeletonError } from './errors.ts'

/** A project of features. */
interface Area {
  readonly project: string
  /** Of the checkout. */
  readonly folder: string
  readonly manifest: Manifest
}

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly nx: { readonly tags: readonly string[] }
}

const root = join(import.meta.dirname, '../../../..')

/** @throws SkeletonError for an area that there is not */
export function areaOf(name: string): Area {
  const areas = new Map(
    globSync('libs/features/*/package.json', { cwd: root })
      .toSorted()
      .map((path) => ({ folder: dirname(path), manifest: readManifest(path) }))
      .filter(({ manifest }) => manifest.nx.tags.includes('plane:control'))
      .map(({ folder, manifest }) => [
        folder.slice('libs/features/'.length),
        { project: manifest.name, folder, manifest },
      ]),
  )
  const area = areas.get(name)
  if (area !== undefined) return area
  throw new SkeletonError('there is no such area', {
    field: 'AREA',
    value: name,
    cure: `write one of ${[...areas.keys()].join(', ')}, or begin a project in libs/features`,
  })
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
}
