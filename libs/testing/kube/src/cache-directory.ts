import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { FixtureError } from './errors.ts'

/** The Kubernetes that lab and tests run; `tools/kubernetes` pins and builds it. */
const KUBERNETES_VERSION = 'v1.36.4'

/** Directory of the Kubernetes commands, which are built once for a machine. */
export function kubernetesDirectory(): string {
  const isRoot = process.getuid?.() === 0
  const cache =
    process.env['KUBE_OVN_CACHE'] ?? (isRoot ? '/var/cache/kube-ovn' : join(homedir(), '.cache', 'kube-ovn'))
  const directory = join(cache, 'kubernetes', KUBERNETES_VERSION, 'bin')
  if (!existsSync(join(directory, 'kube-apiserver'))) {
    throw new FixtureError('Kubernetes commands are missing', {
      what: directory,
      output: '',
      cure: 'npm test builds them, and so does npm run lab',
    })
  }
  return directory
}
