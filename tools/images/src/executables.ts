import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'yaml'
import { BuildInputMissingError } from './errors.ts'
import { executablesDirectory, productVersion, repository } from './paths.ts'
import { runProgram } from './program.ts'
import { bunPath, command, commandBundle, compile } from './programs.ts'

export interface Platform {
  readonly os: 'linux' | 'darwin' | 'windows'
  readonly arch: 'amd64' | 'arm64'
  /** With bytecode it would be larger than is allowed. */
  readonly isLarge?: true
}

/** What kubectl runs on. */
export const platforms: readonly Platform[] = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'darwin', arch: 'amd64' },
  { os: 'darwin', arch: 'arm64' },
  { os: 'windows', arch: 'amd64', isLarge: true },
  { os: 'windows', arch: 'arm64' },
]

/** Whether executables for it run here, and can be made without a registry. */
export function isOwn({ os, arch }: Platform): boolean {
  const own = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]
  return os === (process.platform === 'win32' ? 'windows' : process.platform) && arch === own
}

interface Archive extends Platform {
  readonly file: string
  readonly sha256: string
  readonly executable: string
}

/**
 * Makes `kubectl-ko` for every platform, archives of them, and the manifest by which krew installs it.
 *
 * @param url where the archives will be found
 */
export async function buildExecutables(
  url: string,
  wanted: readonly Platform[] = platforms,
): Promise<readonly Archive[]> {
  await mkdir(executablesDirectory, { recursive: true })
  const archives: Archive[] = []
  for (const platform of wanted) archives.push(await buildOf(platform))
  const manifest = krewManifest(archives, url)
  await writeFile(join(executablesDirectory, 'ko.yaml'), stringify(manifest))
  return archives
}

async function buildOf(platform: Platform): Promise<Archive> {
  const { os, arch, isLarge = false } = platform
  const directory = join(executablesDirectory, `${os}-${arch}`)
  const executable = `${command.name}${os === 'windows' ? '.exe' : ''}`
  await mkdir(directory, { recursive: true })
  const bun = await bunOf(platform)
  await compile({
    source: commandBundle,
    outfile: join(directory, executable),
    target: { name: `bun-${os}-${arch === 'amd64' ? 'x64' : arch}`, bun },
    hasBytecode: !isLarge,
  })
  const file = `${command.name}-${os}-${arch}.tar.gz`
  const path = join(executablesDirectory, file)
  await runProgram('tar', [
    ...['--create', '--gzip', '--owner=0', '--group=0', '--mtime=@0', `--file=${path}`],
    ...[`--directory=${directory}`, executable, `--directory=${repository}`, 'LICENSE'],
  ])
  const { size } = await stat(join(directory, executable))
  console.log(`${file}   ${(size / 1e6).toFixed(1)} MB`)
  return { ...platform, file, executable, sha256: await hashOf(path) }
}

/** The executable of bun for a platform, from the package that has it: the bundler has that of this machine alone. */
async function bunOf(platform: Platform): Promise<string> {
  if (isOwn(platform)) return bunPath()
  const { os, arch } = platform
  const require = createRequire(import.meta.url)
  const { version } = JSON.parse(await readFile(require.resolve('bun/package.json'), 'utf8')) as {
    readonly version: string
  }
  const name = `bun-${os}-${arch === 'amd64' ? 'x64' : 'aarch64'}`
  const directory = join(executablesDirectory, 'bun', version, name)
  const path = join(directory, 'package/bin', os === 'windows' ? 'bun.exe' : 'bun')
  if ((await stat(path).catch(() => undefined)) !== undefined) return path
  await mkdir(directory, { recursive: true })
  try {
    await runProgram('npm', [
      'pack',
      '--silent',
      `--pack-destination=${directory}`,
      `@oven/${name}@${version}`,
    ])
    const archive = join(directory, `oven-${name}-${version}.tgz`)
    await runProgram('tar', ['--extract', '--gzip', `--file=${archive}`, `--directory=${directory}`])
    await rm(archive)
  } catch (cause) {
    throw new BuildInputMissingError(
      `bun of ${os} on ${arch} could not be had`,
      { path: `@oven/${name}@${version}`, cure: 'see that npm is there, and reaches a registry' },
      { cause },
    )
  }
  return path
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** @see https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
export function krewManifest(archives: readonly Archive[], url: string): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'ko' },
    spec: {
      version: productVersion,
      homepage: 'https://www.ovn.org',
      shortDescription: 'See, steer and ask Kube-OVN',
      description:
        'Shows the state of Kube-OVN, runs tools of OVN and Open vSwitch where they have to run, follows packets, tells what changes would come to, and why a pod has no network.',
      platforms: archives.map(({ os, arch, file, sha256, executable }) => ({
        selector: { matchLabels: { os, arch } },
        uri: `${url.replace(/\/$/, '')}/${file}`,
        sha256,
        bin: executable,
        files: [
          { from: executable, to: '.' },
          { from: 'LICENSE', to: '.' },
        ],
      })),
    },
  }
}
