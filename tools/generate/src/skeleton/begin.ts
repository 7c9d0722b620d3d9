import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { format, getFileInfo, resolveConfig } from 'prettier'
import { appSkeleton } from './app.ts'
import { SkeletonError } from './errors.ts'
import { featureSkeleton } from './feature.ts'
import { parseName } from './name.ts'
import { resourceSkeleton } from './resource.ts'
import type { PackageLink, Skeleton } from './skeleton.ts'

const root = join(import.meta.dirname, '../../../..')

/**
 * Writes what something new begins with, and its lines into lists.
 *
 * @param request what is asked for: `feature AREA/NAME`, `app NAME` or `resource NAME`
 * @returns a line for each file that was written or changed
 * @throws SkeletonError before anything is written
 */
export async function beginSkeleton(request: readonly string[]): Promise<readonly string[]> {
  const { files, edits, links = [] } = skeletonOf(request)
  for (const path of Object.keys(files)) {
    if (existsSync(join(root, path)))
      throw new SkeletonError('it is there already', {
        field: 'NAME',
        value: path,
        cure: 'choose another name',
      })
  }
  const texts = new Map(Object.entries(files))
  for (const { path, edit } of edits)
    texts.set(path, edit(texts.get(path) ?? (await readFile(join(root, path), 'utf8'))))
  for (const [path, text] of texts) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), await pretty(path, text))
  }
  // What is generated next imports what was begun.
  for (const link of links) await linkPackage(link)
  return [...texts.keys()].map((path) => `${path} ${path in files ? 'written' : 'changed'}`)
}

function skeletonOf(request: readonly string[]): Skeleton {
  const [what = '', where = '', ...rest] = request
  if (rest.length === 0 && what === 'app') return appSkeleton(parseName(where))
  if (rest.length === 0 && what === 'resource') return resourceSkeleton(parseName(where))
  const [area = '', name = '', ...more] = where.split('/')
  if (rest.length === 0 && more.length === 0 && what === 'feature')
    return featureSkeleton(area, parseName(name))
  throw new SkeletonError('nothing can be begun so', {
    field: 'arguments',
    value: request.join(' '),
    cure: 'write feature AREA/NAME, app NAME or resource NAME',
  })
}

async function linkPackage({ from, name, to }: PackageLink): Promise<void> {
  const link = join(root, from, 'node_modules', name)
  await mkdir(dirname(link), { recursive: true })
  await symlink(relative(dirname(link), join(root, to)), link)
}

async function pretty(path: string, text: string): Promise<string> {
  const filepath = join(root, path)
  const { ignored, inferredParser } = await getFileInfo(filepath, {
    ignorePath: join(root, '.prettierignore'),
  })
  if (ignored || inferredParser === null) return text
  return format(text, { ...(await resolveConfig(filepath)), filepath })
}
