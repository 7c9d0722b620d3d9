import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { FixtureError } from './errors.ts'

/** The checkout. */
export const repository = join(import.meta.dirname, '../../../..')

/** What is built once for a machine; the same rule as in tools/bootstrap, which runs where no TypeScript does yet. */
export function cacheDirectory(): string {
  const isRoot = process.getuid?.() === 0
  return (
    process.env['KUBE_OVN_CACHE'] ?? (isRoot ? '/var/cache/kube-ovn' : join(homedir(), '.cache', 'kube-ovn'))
  )
}

interface Versions {
  readonly kubernetes: string
  readonly helm: string
}

/** Directory of the programs of the version that is pinned. */
function programsOf(name: keyof Versions): string {
  const versions = JSON.parse(
    readFileSync(join(repository, 'tools/bootstrap/versions.json'), 'utf8'),
  ) as Versions
  return join(cacheDirectory(), name, `v${versions[name]}`, 'bin')
}

/** Directory of the Kubernetes commands, which are built once for a machine. */
export function kubernetesDirectory(): string {
  const directory = programsOf('kubernetes')
  requireProgram(join(directory, 'kube-apiserver'))
  return directory
}

/** Helm, which is built likewise. */
export function helmPath(): string {
  const path = join(programsOf('helm'), 'helm')
  requireProgram(path)
  return path
}

function requireProgram(path: string): void {
  if (existsSync(path)) return
  throw new FixtureError('A program that is built once for a machine is missing', {
    what: path,
    output: '',
    cure: 'npm test builds it, and so does npm run lab',
  })
}
