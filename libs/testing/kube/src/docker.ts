import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { FixtureError } from './errors.ts'

const IMAGE_DIRECTORY = join(import.meta.dirname, '..', 'image')

/** Containers of tests carry it, so that what a crash left behind can be found. */
export const TEST_LABEL = 'kube-ovn.test=1'

/** Held while something is made that all test fixtures of the machine share. */
const LOCK = join(tmpdir(), 'kube-ovn-test.lock')

/** Runs a docker command and yields what it prints. */
export function docker(...args: readonly string[]): Promise<string> {
  return run('docker', args)
}

async function run(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 1 << 24 })
    return stdout.trim()
  } catch (cause) {
    const output = cause instanceof Error ? cause.message : String(cause)
    throw new FixtureError(
      'Docker command failed',
      { what: [program, ...args].join(' '), output, cure: 'start a Docker engine' },
      { cause },
    )
  }
}

/** Builds the image unless it is there. Its tag is a hash of what it is built from. */
export async function buildImage(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of (await readdir(IMAGE_DIRECTORY)).toSorted()) {
    hash.update(file).update(await readFile(join(IMAGE_DIRECTORY, file)))
  }
  const tag = `kube-ovn-test/kube:${hash.digest('hex').slice(0, 12)}`
  const found = await docker('images', '--quiet', tag)
  if (found === '') await docker('build', '--network', 'host', '--tag', tag, IMAGE_DIRECTORY)
  return tag
}

/** Makes the network of tests unless it is there. It is internal: nothing on it reaches the outside. */
export async function ensureNetwork(name: string): Promise<void> {
  // Docker lets two networks have one name, so workers that start together must not both find none.
  const script =
    'docker network inspect "$1" >/dev/null 2>&1 || docker network create --internal --label "$2" "$1"'
  await run('flock', [LOCK, 'sh', '-c', script, 'sh', name, TEST_LABEL])
}
