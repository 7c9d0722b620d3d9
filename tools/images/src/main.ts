/**
 * Builds the product's container images.
 *
 *     npm run images
 *
 * Writes `dist/images.json` (names and references) and `dist/image-values.yaml`, the values that make the chart use them.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildPrograms } from './build-programs.ts'
import { ensureImage } from './container-image.ts'
import { imageList } from './images.ts'
import { dist, productVersion } from './paths.ts'

await buildPrograms()

const published: Record<string, string> = {}
const forTests: Record<string, string> = {}
// Builds wait for mirrors and disks, so they wait at the same time.
const references = await Promise.all(imageList().map(({ name }) => ensureImage(name)))
for (const [index, source] of imageList().entries()) {
  const reference = references[index] ?? ''
  if (source.isForTests === true) forTests[source.name] = reference
  else if (source.isInternal !== true) published[source.name] = reference
}

await mkdir(dist, { recursive: true })
await writeFile(
  join(dist, 'images.json'),
  `${JSON.stringify({ version: productVersion, images: published, forTests }, undefined, 2)}\n`,
)
await writeFile(join(dist, 'image-values.yaml'), imageValues())
for (const reference of Object.values({ ...published, ...forTests })) console.log(reference)

/** Each component of the chart with the tag of its image. */
function imageValues(): string {
  const components = {
    ...{ central: 'ovn', ovsOvn: 'ovn' },
    ...{ controller: 'controller', monitor: 'controller' },
    ...{ agent: 'cni', pinger: 'cni', bgpSpeaker: 'cni' },
  }
  return Object.entries(components)
    .map(([component, image]) => `${component}:\n  image:\n    tag: ${tagOf(published[image] ?? '')}\n`)
    .join('')
}

function tagOf(reference: string): string {
  return reference.slice(reference.lastIndexOf(':') + 1)
}
