import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleContext, contextHash } from './content.ts'
import { imageList, type ImageSource } from './images.ts'
import { productVersion } from './paths.ts'
import { runProgram, succeeds } from './program.ts'
import { step } from './progress.ts'

const ensured = new Map<string, Promise<string>>()

/** Builds an image of the list, and those that it is built on, unless such of the same content exist. Returns its reference. */
export function ensureImage(name: string): Promise<string> {
  const present = ensured.get(name) ?? ensure(name)
  ensured.set(name, present)
  return present
}

async function ensure(name: string): Promise<string> {
  const source = imageList().find((image) => image.name === name)
  if (source === undefined) throw new RangeError(`there is no image ${name}`)
  const buildArguments: Record<string, string> =
    source.on === undefined ? {} : { BASE: await ensureImage(source.on) }
  const hash = await contextHash(source.context, buildArguments)
  const reference = `kube-ovn/${source.name}:${productVersion}-${hash.slice(0, 12)}`
  if (await succeeds('docker', ['image', 'inspect', reference])) return reference
  await step(`image ${reference}`, (report) => buildImage(source, reference, buildArguments, report))
  return reference
}

/** Runs a program unless there is such an image by now. Its arguments are the reference, the program and those of the program. */
const unlessPresent = 'docker image inspect "$1" >/dev/null 2>&1 && exit; shift; exec "$@"'

/** Two processes that built one base would have two, and which of them an image is on would be luck: one builds, others wait and use it. */
async function buildImage(
  source: ImageSource,
  reference: string,
  buildArguments: Readonly<Record<string, string>>,
  report: (detail: string) => void,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-image-'))
  try {
    await assembleContext(source.context, directory)
    await runProgram(
      'flock',
      [
        ...[join(tmpdir(), `kube-ovn-image-${source.name}.lock`), 'sh', '-c', unlessPresent, 'sh', reference],
        ...['docker', 'build'],
        // Debian's mirrors are reached by way of the host's network only.
        ...['--network', 'host', '--tag', reference],
        ...Object.entries(buildArguments).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        directory,
      ],
      { onLine: report, env: { DOCKER_BUILDKIT: '0' } },
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
