import type { Resource } from '@kube-ovn/kube'

/** Built-in resources that etcd has under another name. */
const DIRECTORIES: Readonly<Record<string, string>> = {
  nodes: 'minions',
  services: 'services/specs',
  endpoints: 'services/endpoints',
}

/** Of groups that the API server is built with, none is in a key; those of definitions have a domain of their own. */
const BUILT_IN = new Set(['', 'apps', 'batch', 'discovery.k8s.io', 'networking.k8s.io'])

/** What the keys of all objects of a resource begin with in etcd; `NAMESPACE/NAME` or `NAME` follows. */
export function storagePrefix({ group, plural }: Resource): string {
  return BUILT_IN.has(group) ? `/registry/${DIRECTORIES[plural] ?? plural}/` : `/registry/${group}/${plural}/`
}
