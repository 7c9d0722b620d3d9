import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cacheDirectory } from '@kube-ovn/testing-kube'

/** The checkout. */
export const repository = resolve(import.meta.dirname, '../../..')

/** What is built once for this machine. */
export const cache = cacheDirectory()

interface Versions {
  readonly kubernetes: string
  readonly helm: string
  readonly coredns: string
  readonly multus: string
  readonly 'admin-policies': string
  readonly 'cluster-policies': string
  readonly metallb: string
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
  /** Kubernetes' own suites, what runs them, and what they run in pods; built for deep runs. */
  ginkgo: join(cache, 'conformance', `v${versions.kubernetes}`, 'bin', 'ginkgo'),
  conformance: join(cache, 'conformance', `v${versions.kubernetes}`, 'bin', 'e2e.test'),
  agnhost: join(cache, 'conformance', `v${versions.kubernetes}`, 'bin', 'agnhost'),
  /** The network policy API's own suites; built for deep runs. */
  adminPolicies: policySuite('admin-policies'),
  clusterPolicies: policySuite('cluster-policies'),
  /** Built for deep runs. */
  metallb: {
    controller: join(cache, 'metallb', `v${versions.metallb}`, 'bin', 'controller'),
    speaker: join(cache, 'metallb', `v${versions.metallb}`, 'bin', 'speaker'),
    manifest: join(cache, 'metallb', `v${versions.metallb}`, 'bin', 'metallb-native.yaml'),
  },
  probe: join(repository, 'dist/programs/kube-ovn-probe'),
} as const

export const corednsVersion = versions.coredns

export const metallbVersion = versions.metallb

export const kubernetesVersion = versions.kubernetes

function policySuite(name: 'admin-policies' | 'cluster-policies'): string {
  return join(cache, name, `v${versions[name]}`, 'bin', 'conformance.test')
}

/** What belongs to one lab: certificates, configuration, logs, the kubeconfig. */
export function labDirectory(id: string): string {
  return join(repository, '.lab', id)
}
