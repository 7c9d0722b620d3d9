import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleContext, contextHash } from './content.ts'
import type { ImageSource } from './images.ts'
import { productVersion } from './paths.ts'
import { runProgram, succeeds } from './program.ts'
import { step } from './progress.ts'

/**
 * Builds an image unless one of the same content exists, and returns its reference.
 *
 * @param runtime reference of the image that it is built on
 */
export async function ensureImage(source: ImageSource, runtime: string | undefined): Promise<string> {
  const buildArguments: Record<string, string> = runtime === undefined ? {} : { RUNTIME: runtime }
  const hash = await contextHash(source.context, buildArguments)
  const reference = `kube-ovn/${source.name}:${productVersion}-${hash.slice(0, 12)}`
  if (await succeeds('docker', ['image', 'inspect', reference])) return reference
  await step(`image ${reference}`, (report) => buildImage(source, reference, buildArguments, report))
  return reference
}

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
      'docker',
      [
        'build',
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
