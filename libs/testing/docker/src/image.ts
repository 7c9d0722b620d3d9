import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onceOnMachine } from './command.ts'

/** What an image is built from: a Dockerfile that needs no other file, or a directory with one. */
export type ImageSource = { readonly dockerfile: string } | { readonly directory: string }

const script =
  'docker image inspect "$1" >/dev/null 2>&1 || docker build --quiet --network host --tag "$1" "$2"'

const ensured = new Map<string, Promise<string>>()

/**
 * Makes sure that an image exists, and yields its name. Its tag is a hash of what it is built from, so it is built anew when that
 * changes, and never otherwise.
 *
 * @param name for what it is, e.g. `node` for `kube-ovn-test/node:…`
 *
 * Throws {@link CommandFailedError}.
 */
export async function ensureTestImage(name: string, source: ImageSource): Promise<string> {
  const image = `kube-ovn-test/${name}:${await hashOf(source)}`
  const present = ensured.get(image) ?? build(image, source)
  ensured.set(image, present)
  try {
    return await present
  } catch (error) {
    ensured.delete(image)
    throw error
  }
}

async function build(image: string, source: ImageSource): Promise<string> {
  if ('directory' in source) await onceOnMachine(script, [image, source.directory])
  else await onceOnMachine(script, [image, '-'], source.dockerfile)
  return image
}

async function hashOf(source: ImageSource): Promise<string> {
  const hash = createHash('sha256')
  if ('dockerfile' in source) hash.update(source.dockerfile)
  else {
    for (const file of (await readdir(source.directory)).toSorted()) {
      hash.update(file).update(await readFile(join(source.directory, file)))
    }
  }
  return hash.digest('hex').slice(0, 12)
}
