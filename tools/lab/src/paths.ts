import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The checkout. */
export const repository = resolve(import.meta.dirname, '../../..')

/** What is built once for this machine; the same rule as in tools/bootstrap. */
export const cache =
  process.env['KUBE_OVN_CACHE'] ??
  (process.getuid?.() === 0 ? '/var/cache/kube-ovn' : join(homedir(), '.cache/kube-ovn'))

interface Versions {
  readonly kubernetes: string
  readonly helm: string
  readonly coredns: string
  readonly multus: string
}

const versions = JSON.parse(
  readFileSync(join(repository, 'tools/bootstrap/versions.json'), 'utf8'),
) as Versions

/** Where the programs are that tools/bootstrap built from Go modules. */
export const programs = {
  kubernetes: join(cache, 'kubernetes', `v${versions.kubernetes}`, 'bin'),
  helm: join(cache, 'helm', `v${versions.helm}`, 'bin', 'helm'),
  coredns: join(cache, 'coredns', `v${versions.coredns}`, 'bin', 'coredns'),
  multus: join(cache, 'multus', `v${versions.multus}`, 'bin'),
  probe: join(repository, 'dist/programs/kube-ovn-probe'),
} as const

export const corednsVersion = versions.coredns

/** What belongs to one lab: certificates, configuration, logs, the kubeconfig. */
export function labDirectory(id: string): string {
  return join(repository, '.lab', id)
}
