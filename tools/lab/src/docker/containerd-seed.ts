import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cache } from '../paths.ts'
import { runProgram } from '../program.ts'
import { markUsed, removeLeastRecent } from './recent.ts'
import { imageArchiveMount, imageArchives, saveImage } from './image.ts'

/** An image in a node's containerd, and further names for it. */
export interface SeedImage {
  readonly name: string
  readonly aliases?: readonly string[]
}

const seeds = join(cache, 'containerd')
const machines = join(cache, 'machines')
const trash = join(cache, 'trash')

/** Files that containerd changes in place; everything else in its directory is written once. */
const databases = [
  'io.containerd.metadata.v1.bolt/meta.db',
  'io.containerd.snapshotter.v1.overlayfs/metadata.db',
]

/** Seeds that stay for the next lab: those of about three versions of everything. */
const keptSeeds = 24

/**
 * Makes a directory for a node's containerd that has the images of the seed in it already.
 *
 * The node gets hard links to the seed's files, which are never written to, and copies of its databases.
 */
export async function createContainerdDirectory(lab: string, node: string, seed: string): Promise<string> {
  const directory = join(machines, lab, node)
  await linkDirectory(seed, directory)
  return directory
}

/** Removes the directories of a lab's nodes, or of one; the files go in the background, since there may be many. */
export function removeContainerdDirectories(lab: string, node = ''): void {
  const directory = join(machines, lab, node)
  if (!existsSync(directory)) return
  mkdirSync(trash, { recursive: true })
  renameSync(directory, mkdtempSync(join(trash, `${lab}-`)))
  // The directory itself stays: another process may be about to put something into it.
  const thrown = readdirSync(trash).map((name) => join(trash, name))
  spawn('rm', ['-rf', ...thrown], { detached: true, stdio: 'ignore' }).unref()
}

/**
 * Makes a directory of containerd with the images in it, unless there is one, and returns its path.
 *
 * Importing takes seconds for each image and node. Here it is done once for each content.
 *
 * @param images in the order of how seldom they change: the seed of all but the last is the base for the seed of all
 */
export async function ensureContainerdSeed(nodeImage: string, images: readonly SeedImage[]): Promise<string> {
  const archives = await Promise.all(images.map(({ name }) => saveImage(name)))
  const names = images.map(({ name, aliases = [] }, index) =>
    [archives[index] ?? '', name, ...aliases].join(' '),
  )
  let seed: string | undefined
  for (const [index, image] of images.entries()) {
    const path = join(seeds, hashOf([nodeImage, ...names.slice(0, index + 1)]))
    if (!existsSync(path)) await buildSeed(path, seed, nodeImage, image, archives[index] ?? '')
    markUsed(path)
    seed = path
  }
  removeLeastRecent(seeds, keptSeeds)
  return seed ?? mkdtempSync(join(seeds, 'empty-'))
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)
}

/** Runs containerd on a copy of the base just long enough to import one image. */
async function buildSeed(
  path: string,
  base: string | undefined,
  nodeImage: string,
  image: SeedImage,
  archive: string,
): Promise<void> {
  mkdirSync(seeds, { recursive: true })
  const partial = mkdtempSync(join(seeds, 'partial-'))
  rmSync(partial, { recursive: true })
  if (base === undefined) mkdirSync(partial)
  else await linkDirectory(base, partial)
  const importing = importCommands(image, archive).map((command) => command.join(' '))
  const script = [
    'containerd --log-level warn & daemon=$!',
    'until ctr version > /dev/null 2>&1; do kill -0 $daemon; sleep 0.05; done',
    ...importing,
    'kill $daemon; wait $daemon || true',
  ].join('\n')
  await runProgram('docker', [
    ...['run', '--rm', '--network', 'none', '--cap-add', 'ALL', '--cap-drop', 'SYS_RESOURCE'],
    ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
    ...['--volume', `${partial}:/var/lib/containerd`, '--volume', `${imageArchives}:${imageArchiveMount}:ro`],
    ...[nodeImage, 'bash', '-ec', script],
  ])
  try {
    renameSync(partial, path)
  } catch (error) {
    // Another lab built the same one meanwhile.
    if (!existsSync(path)) throw error
    rmSync(partial, { recursive: true, force: true })
  }
}

/** What makes the image of an archive known to a running containerd, by all its names. */
export function importCommands(
  { name, aliases = [] }: SeedImage,
  archive: string,
): readonly (readonly string[])[] {
  const images = ['ctr', '-n', 'k8s.io', 'images']
  const imported = `docker.io/${name.includes('/') ? '' : 'library/'}${name}`
  return [
    [...images, 'import', `${imageArchiveMount}/${archive}`],
    ...aliases.map((alias) => [...images, 'tag', '--force', imported, alias]),
  ]
}

async function linkDirectory(from: string, to: string): Promise<void> {
  mkdirSync(join(to, '..'), { recursive: true })
  await runProgram('cp', ['-al', from, to])
  for (const database of databases) {
    const path = join(to, database)
    if (!existsSync(path)) continue
    rmSync(path)
    copyFileSync(join(from, database), path)
  }
}
