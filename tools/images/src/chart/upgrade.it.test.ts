import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { renderChart, resourceOf, type Manifest } from './render.ts'

const namespace = 'kube-system'
const rbac = 'rbac.authorization.k8s.io'

/** What Kube-OVN's chart kube-ovn-v2 1.17 makes of what nobody can change later: whom bindings are about, and selectors. */
const original: readonly object[] = [
  ...['ovn', 'kube-ovn-cni', 'kube-ovn-app'].map((name) => ({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })),
  {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'kube-ovn-cni-secret-reader', namespace },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'secret-reader-ovn-ipsec' },
    subjects: [{ kind: 'ServiceAccount', name: 'kube-ovn-cni', namespace }],
  },
  ...['ovn', 'ovn-ovs', 'kube-ovn-cni', 'kube-ovn-app', 'vpc-nat-gw', 'kube-ovn-post-delete-hook'].map(
    (name) => ({
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: `system:${name}` },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    }),
  ),
  ...['ovn-central', 'kube-ovn-controller', 'kube-ovn-monitor'].map((name) =>
    workloadOf('Deployment', name, name),
  ),
  ...['kube-ovn-cni', 'kube-ovn-pinger', 'kube-ovn-speaker'].map((name) =>
    workloadOf('DaemonSet', name, name),
  ),
  workloadOf('DaemonSet', 'ovs-ovn', 'kube-ovn-ovs'),
]

function workloadOf(kind: string, name: string, label: string): object {
  const labels = { 'app.kubernetes.io/name': label, 'app.kubernetes.io/part-of': 'kube-ovn' }
  const containers = [{ name: 'original', image: 'original' }]
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  }
}

describe('an upgrade from the chart of the original', () => {
  let api: KubeApi
  beforeAll(async () => {
    api = await sharedKubeApi()
  })

  async function apply(manifest: Manifest): Promise<void> {
    const { name, namespace: own } = manifest.metadata
    const ref = { name, ...(own === undefined ? {} : { namespace: own }) }
    const options = { fieldManager: 'helm', force: true }
    await api.client.patch(resourceOf(manifest), ref, 'application/apply-patch+yaml', manifest, options)
  }

  it('changes nothing that can not be changed', async () => {
    for (const manifest of original) await apply(manifest as Manifest)
    const manifests = await renderChart({ bgpSpeaker: { enabled: true } })
    for (const manifest of manifests) await apply(manifest)
    // What is there with the same name was made by the table, so this test has looked at it.
    const all = new Set(original.map((manifest) => nameOf(manifest as Manifest)))
    const met = manifests.map((manifest) => nameOf(manifest)).filter((name) => all.has(name))
    expect(met).toEqual(
      expect.arrayContaining(['ClusterRoleBinding ovn', 'Deployment ovn-central', 'DaemonSet ovs-ovn']),
    )
  })

  it('takes names of Secrets for images as that one does, and objects', async () => {
    const registry = { imagePullSecrets: ['harbour', { name: 'quay' }, ''] }
    const manifests = await renderChart({ global: { registry }, bgpSpeaker: { enabled: true } })
    const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount')
    expect(accounts.length).toBeGreaterThan(0)
    for (const account of accounts) {
      expect(account, account.metadata.name).toMatchObject({
        imagePullSecrets: [{ name: 'harbour' }, { name: 'quay' }],
      })
      await apply(account)
    }
  })
})

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`
}
