import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureLabImage, saveImage } from '../docker/image.ts'
import { ensureContainerdSeed, importCommands, type SeedImage } from '../docker/containerd-seed.ts'
import { eventually } from '../kubernetes/wait.ts'
import { runAt } from '../namespaces.ts'
import { repository } from '../paths.ts'
import type { LabNode } from './node.ts'
import type { Topology } from './topology.ts'

/** The images that machines are made of. */
export interface MachineImages {
  readonly node: string
  readonly pause: string
  /** Of the outside host and of routers. */
  readonly outside: string
}

/** Builds what machines are made of, unless it is there. Switches and routing daemons are not in what every lab must have. */
export async function ensureMachineImages({ vlans, routers }: Topology): Promise<MachineImages> {
  const outsideImage = vlans.length > 0 || routers.length > 0 ? 'outside' : 'node'
  const [node, pause, outside] = await Promise.all([
    ensureLabImage('node'),
    ensureLabImage('pause'),
    ensureLabImage(outsideImage),
  ])
  return { node, pause, outside }
}

/** The directory that the nodes of a cluster start their containerd with. */
export async function ensureNodeSeed(topology: Topology, { node, pause }: MachineImages): Promise<string> {
  return ensureContainerdSeed(node, await imagesOf(topology, pause))
}

/** The name under which examples ask for the image that pods are tried with; a lab has no registry to get it from. */
const exampleImage = 'docker.io/library/busybox:stable'

/** What every node has from the start, in the order of how seldom it changes. */
async function imagesOf(topology: Topology, pauseImage: string): Promise<readonly SeedImage[]> {
  const [probe, coredns] = await Promise.all([ensureLabImage('probe'), ensureLabImage('coredns')])
  const product = topology.podNetwork === 'kube-ovn' ? readProductImages() : []
  return [
    { name: pauseImage },
    { name: coredns },
    { name: probe, aliases: [exampleImage] },
    ...product.map((name) => ({ name })),
  ]
}

/** The product's images, as `npm run images` left them. */
function readProductImages(): readonly string[] {
  return Object.values(readImages().images)
}

interface BuiltImages {
  readonly images: Readonly<Record<string, string>>
  readonly forTests: { readonly probe: string }
}

function readImages(): BuiltImages {
  return JSON.parse(readFileSync(join(repository, 'dist/images.json'), 'utf8')) as BuiltImages
}

/** An image of the product, which every node of a lab with it has. */
export function productImage(name: string): string {
  const image = readImages().images[name]
  if (image === undefined) throw new TypeError(`dist/images.json names no image ${name}`)
  return image
}

/** The image of the probe, as `npm run images` left it. */
export function readProbeImage(): string {
  return readImages().forTests.probe
}

/** Whose nodes are to know images. */
interface Importing {
  readonly nodes: readonly LabNode[]
}

/** Makes the product's images known to a cluster that was made with another pod network. */
export async function importProductImages(cluster: Importing): Promise<void> {
  await importImages(
    cluster,
    readProductImages().map((name) => ({ name })),
  )
}

/** Makes more images known to every node. */
export async function importImages(cluster: Importing, images: readonly SeedImage[]): Promise<void> {
  const commands = await Promise.all(
    images.map(async (image) => importCommands(image, await saveImage(image.name))),
  )
  await Promise.all(
    cluster.nodes.map(async ({ place }) => {
      await eventually('containerd answers', async () => {
        const answer = await runAt(place, ['ctr', 'version']).catch(() => undefined)
        return answer
      })
      for (const command of commands.flat()) await runAt(place, command)
    }),
  )
}
