import { createHash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runProgram } from '../program.ts'
import { cache, corednsVersion, kubernetesVersion, metallbVersion, programs } from '../paths.ts'
import { callEngine, unlessMissing } from './engine.ts'
import { markUsed, removeLeastRecent } from './recent.ts'

export type LabImage =
  'node' | 'outside' | 'probe' | 'pause' | 'coredns' | 'agnhost' | 'prometheus' | 'metallb'

const contexts = join(import.meta.dirname, '../../images')

/** Files that an image takes from elsewhere, and what they change with. */
const additions: Partial<Record<LabImage, { readonly files: readonly string[]; readonly version: string }>> =
  {
    agnhost: { files: [programs.agnhost], version: kubernetesVersion },
    coredns: { files: [programs.coredns], version: corednsVersion },
    metallb: { files: [programs.metallb.controller, programs.metallb.speaker], version: metallbVersion },
  }

/** The name of an image of the lab; its tag changes with what it is made from. */
function labImageName(image: LabImage): string {
  const hash = createHash('sha256')
  for (const file of readdirSync(join(contexts, image)).sort()) {
    hash.update(`${file}\n`)
    hash.update(readFileSync(join(contexts, image, file)))
  }
  hash.update(additions[image]?.version ?? '')
  return `kube-ovn-lab-${image}:${hash.digest('hex').slice(0, 12)}`
}

/** Builds an image of the lab unless it exists, and returns its name. */
export async function ensureLabImage(image: LabImage): Promise<string> {
  const name = labImageName(image)
  if ((await findImageId(name)) !== undefined) return name
  const context = mkdtempSync(join(tmpdir(), 'kube-ovn-image-'))
  try {
    cpSync(join(contexts, image), context, { recursive: true })
    for (const file of additions[image]?.files ?? []) cpSync(file, join(context, basename(file)))
    // Packages come from Debian's mirrors, which only the host's network reaches.
    await runProgram('docker', ['build', '--quiet', '--network', 'host', '--tag', name, context])
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
  return name
}

async function findImageId(name: string): Promise<string | undefined> {
  const found = await unlessMissing(
    callEngine<{ Id: string }>('GET', `/images/${encodeURIComponent(name)}/json`),
  )
  return found?.Id
}

/** Where archives of images lie on the host; mounted into every node at `imageArchiveMount`. */
export const imageArchives = join(cache, 'images')
export const imageArchiveMount = '/images'

/** Archives that stay for the next lab: those of about three versions of everything. */
const keptArchives = 24

/**
 * Saves an image as an archive, once for each content.
 *
 * @returns the file's name in `imageArchives`
 */
export async function saveImage(name: string): Promise<string> {
  const id = await callEngine<{ Id: string }>('GET', `/images/${encodeURIComponent(name)}/json`)
  const tag = createHash('sha256').update(`${name}\n${id.Id}`).digest('hex').slice(0, 24)
  const file = `${tag}.tar`
  const path = join(imageArchives, file)
  if (existsSync(path)) {
    markUsed(path)
    return file
  }
  mkdirSync(imageArchives, { recursive: true })
  removeLeastRecent(imageArchives, keptArchives)
  const partial = `${path}.${randomUUID()}`
  await runProgram('docker', ['save', '--output', partial, name])
  renameSync(partial, path)
  return file
}
