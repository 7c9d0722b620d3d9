import { X509Certificate, createPrivateKey } from 'node:crypto'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { container, environment, renderChart, workload, type Manifest } from './render.ts'

const clients = [
  { name: 'ovn-central', program: 'ovn-central' },
  { name: 'ovs-ovn', program: 'openvswitch' },
  { name: 'kube-ovn-controller', program: 'kube-ovn-controller' },
]

const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true }
const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}
const tls = { networking: { enableSsl: true } }
const ownSecret = { networking: { enableSsl: true, tlsSecret: 'own' } }

let api: KubeApi
beforeAll(async () => {
  api = await sharedKubeApi()
})
beforeEach(() => api.reset())

function secretOf(manifests: readonly Manifest[]): Manifest | undefined {
  return manifests.find(({ kind }) => kind === 'Secret')
}

function rendered(values: object): Promise<readonly Manifest[]> {
  return renderChart(values, { kubeconfig: api.kubeconfigPath })
}

/** A Secret that is there, of Helm's release or of somebody else. */
async function create(name: string, data: Readonly<Record<string, string>>, release?: string): Promise<void> {
  const marks = { 'meta.helm.sh/release-name': release ?? '', 'meta.helm.sh/release-namespace': 'default' }
  const metadata = {
    name,
    namespace: 'kube-system',
    ...(release === undefined ? {} : { annotations: marks }),
  }
  await api.client.create(secrets, { metadata, data } as KubeObject)
}

function pem(manifest: Manifest | undefined, name: string): string {
  return Buffer.from(manifest?.data?.[name] ?? '', 'base64').toString()
}

describe('networking.enableSsl', () => {
  it('is off unless it is asked for, and every pod is told so', async () => {
    const manifests = await renderChart({})
    expect(secretOf(manifests)).toBeUndefined()
    for (const { name, program } of clients) {
      expect(environment(container(workload(manifests, name), program), 'ENABLE_SSL')).toBe('false')
    }
  })

  it('mounts the Secret, whose files only the owner of the process reads', async () => {
    const manifests = await renderChart(ownSecret)
    for (const { name, program } of clients) {
      const pods = workload(manifests, name)
      expect(environment(container(pods, program), 'ENABLE_SSL')).toBe('true')
      expect(pods.spec?.template?.spec.volumes).toContainEqual({
        name: 'tls',
        secret: { secretName: 'own', defaultMode: 0o400 },
      })
    }
    expect(secretOf(manifests)).toBeUndefined()
  })

  it('needs to be told of a Secret where there is no cluster to keep one in', async () => {
    await expect(renderChart(tls)).rejects.toThrow('set networking.tlsSecret to its name')
  })

  it('has a certificate made for both ends of a connection, by an authority of its own', async () => {
    const secret = secretOf(await rendered(tls))
    expect(secret?.metadata).toMatchObject({ name: 'kube-ovn-tls', namespace: 'kube-system' })
    const authority = new X509Certificate(pem(secret, 'cacert'))
    const certificate = new X509Certificate(pem(secret, 'cert'))
    expect(certificate.verify(authority.publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(pem(secret, 'key')))).toBe(true)
    expect(certificate.keyUsage).toEqual(expect.arrayContaining(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']))
    expect(certificate.subject).toBe('CN=ovn')
  })

  const data = { cacert: 'YQ==', cert: 'Yg==', key: 'Yw==' }

  it('keeps what it made', async () => {
    await create('kube-ovn-tls', data, 'kube-ovn')
    expect(secretOf(await rendered(tls))?.data).toEqual(data)
  })

  it.each([{ release: undefined }, { release: 'another' }])(
    'leaves a Secret of $release alone, and uses it',
    async ({ release }) => {
      await create('kube-ovn-tls', data, release)
      const manifests = await rendered(tls)
      expect(secretOf(manifests)).toBeUndefined()
      expect(JSON.stringify(workload(manifests, 'ovn-central'))).toContain('"secretName":"kube-ovn-tls"')
    },
  )

  it('says what a Secret lacks, and which one is not there', async () => {
    await create('own', { cacert: 'YQ==', cert: 'Yg==' })
    await expect(rendered(ownSecret)).rejects.toThrow('Secret own has no key')
    const other = { networking: { enableSsl: true, tlsSecret: 'other' } }
    await expect(rendered(other)).rejects.toThrow('there is no Secret other in namespace kube-system')
  })

  it.each([{ enableSsl: 'maybe' }, { enableSsl: 'false' }])('refuses $enableSsl', async (networking) => {
    await expect(renderChart({ networking })).rejects.toThrow('write true or false')
  })

  it('hands on which versions and ciphers are offered', async () => {
    const limits = {
      tlsMinVersion: 'TLS12',
      tlsMaxVersion: '1.3',
      tlsCipherSuites: ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305'],
    }
    const central = workload(await renderChart({ networking: limits }), 'ovn-central')
    const program = container(central, 'ovn-central')
    expect(environment(program, 'TLS_MIN_VERSION')).toBe('TLS12')
    expect(environment(program, 'TLS_MAX_VERSION')).toBe('1.3')
    expect(environment(program, 'TLS_CIPHER_SUITES')).toBe(limits.tlsCipherSuites.join(','))
  })

  it.each([
    { networking: { tlsMinVersion: 'SSL3' }, says: 'write TLS10, TLS11, TLS12 or TLS13' },
    { networking: { tlsMinVersion: 'TLS13', tlsMaxVersion: '1.2' }, says: 'is above tlsMaxVersion' },
    { networking: { tlsCipherSuites: ['TLS_RSA_WITH_RC4_128_SHA'] }, says: 'take it out' },
  ])('refuses what it can not offer: $networking', async ({ networking, says }) => {
    await expect(renderChart({ networking })).rejects.toThrow(says)
  })

  describe.each([
    { was: false, wanted: true },
    { was: true, wanted: false },
  ])('of a cluster, which is $was, and is to be $wanted', ({ was, wanted }) => {
    /** As it is after an installation, with another number of members. */
    async function install(replicas: number): Promise<void> {
      const [found] = [await renderChart({ networking: { enableSsl: was, tlsSecret: 'own' } })]
      const central = workload(found, 'ovn-central')
      const spec = { ...central.spec, replicas }
      await api.client.create(deployments, { metadata: central.metadata, spec } as KubeObject)
      await create('own', data)
    }
    const change = { networking: { enableSsl: wanted, tlsSecret: 'own' } }

    it('is refused: it would have no quorum', async () => {
      await install(3)
      await expect(rendered(change)).rejects.toThrow(`Set it to ${was}, or found the cluster anew`)
    })

    it.each([1, 0])('is taken with %i replicas', async (replicas) => {
      await install(replicas)
      await expect(rendered(change)).resolves.toBeDefined()
    })
  })
})
