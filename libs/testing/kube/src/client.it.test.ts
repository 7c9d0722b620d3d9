import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  KubeAlreadyExistsError,
  KubeBadRequestError,
  KubeClient,
  KubeConflictError,
  KubeConnectionError,
  KubeDeniedError,
  KubeGoneError,
  KubeInvalidError,
  KubeNotFoundError,
  KubeUnauthorizedError,
  configMaps,
  listAll,
  loadKubeconfig,
  namespaces,
  pods,
  services,
  type ConfigMap,
  type KubeObject,
  type Resource,
} from '@kube-ovn/kube'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { KubeApi } from './kube-api.ts'
import { startKubeApi } from './start-kube-api.ts'
import { TemporaryDirectory } from './temporary-directory.ts'

let api: KubeApi

beforeAll(async () => {
  api = await startKubeApi()
})

afterAll(() => api[Symbol.asyncDispose]())

beforeEach(() => api.reset())

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { metadata: { namespace: 'default', name }, data }
}

const ref = { namespace: 'default', name: 'a' }

describe('objects', () => {
  it('creates, reads, replaces and removes', async () => {
    const created = await api.client.create(configMaps, configMap('a', { x: '1' }))
    expect(created.metadata.uid).toBeDefined()
    const replaced = await api.client.replace(configMaps, { ...created, data: { x: '2' } })
    expect(await api.client.get(configMaps, ref)).toEqual(replaced)
    expect(await api.client.remove(configMaps, ref)).toMatchObject({ isGone: true })
    expect(await api.client.get(configMaps, ref)).toBeUndefined()
    expect(await api.client.remove(configMaps, ref)).toEqual({ isGone: true, object: undefined })
  })

  it('patches in each of the ways', async () => {
    await api.client.create(configMaps, configMap('a', { x: '1', y: '1' }))
    const merged = await api.client.patch(configMaps, ref, 'application/merge-patch+json', {
      data: { x: null, z: '3' },
    })
    expect(merged.data).toEqual({ y: '1', z: '3' })
    const steps = [{ op: 'replace', path: '/data/y', value: '2' }]
    const stepped = await api.client.patch(configMaps, ref, 'application/json-patch+json', steps)
    expect(stepped.data).toEqual({ y: '2', z: '3' })
    const strategic = { metadata: { labels: { l: 'v' } } }
    const labelled = await api.client.patch(
      configMaps,
      ref,
      'application/strategic-merge-patch+json',
      strategic,
    )
    expect(labelled.metadata.labels).toEqual({ l: 'v' })
    const mine = { apiVersion: 'v1', kind: 'ConfigMap', data: { y: '4' } }
    const apply = api.client.patch(configMaps, ref, 'application/apply-patch+yaml', mine, {
      fieldManager: 'other',
    })
    await expect(apply).rejects.toThrow(KubeConflictError)
    const options = { fieldManager: 'other', force: true }
    const applied = await api.client.patch(configMaps, ref, 'application/apply-patch+yaml', mine, options)
    expect(applied.data).toEqual({ y: '4', z: '3' })
  })

  it('writes a subresource without touching the rest', async () => {
    const pod = { metadata: ref, spec: { containers: [{ name: 'c', image: 'i' }] } }
    await api.client.create(pods, pod)
    const status = {
      status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
      spec: { nodeName: 'n' },
    }
    const options = { subresource: 'status' }
    const patched = await api.client.patch(pods, ref, 'application/merge-patch+json', status, options)
    expect(patched.status?.podIP).toBe('10.0.0.1')
    expect(patched.spec.nodeName).toBeUndefined()
  })

  it('tells an object that waits for its finalizers from one that is gone', async () => {
    await api.client.create(configMaps, { metadata: { ...ref, finalizers: ['kubeovn.io/test'] } })
    const waiting = await api.client.remove(configMaps, ref)
    expect(waiting.isGone).toBe(false)
    expect(waiting.object?.metadata.deletionTimestamp).toBeDefined()
    await api.client.patch(configMaps, ref, 'application/merge-patch+json', {
      metadata: { finalizers: null },
    })
    expect(await api.client.get(configMaps, ref)).toBeUndefined()
  })

  it('takes a pod with a grace period and a namespace for waiting', async () => {
    await api.client.create(pods, {
      metadata: ref,
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    })
    expect((await api.client.remove(pods, ref)).isGone).toBe(false)
    expect((await api.client.remove(pods, ref, { gracePeriodSeconds: 0 })).isGone).toBe(true)
    await api.client.create(namespaces, { metadata: { name: 'shop' } })
    expect((await api.client.remove(namespaces, { name: 'shop' })).isGone).toBe(false)
  })

  it('removes only what the preconditions name', async () => {
    const created = await api.client.create(configMaps, configMap('a'))
    const wrong = api.client.remove(configMaps, ref, { preconditions: { uid: 'another' } })
    await expect(wrong).rejects.toThrow(KubeConflictError)
    const { uid } = created.metadata
    const right = api.client.remove(configMaps, ref, { preconditions: uid === undefined ? {} : { uid } })
    expect((await right).isGone).toBe(true)
  })
})

describe('lists', () => {
  it('reads all pages at one state of the server', async () => {
    for (let index = 0; index < 7; index += 1) await api.client.create(configMaps, configMap(`c${index}`))
    const first = await api.client.list(configMaps, { namespace: 'default', limit: 3 })
    expect(first.items).toHaveLength(3)
    await api.client.create(configMaps, configMap('c9'))
    const rest = await api.client.list(configMaps, {
      namespace: 'default',
      limit: 100,
      continue: first.continue,
    })
    expect(rest.resourceVersion).toBe(first.resourceVersion)
    expect(rest.items.map((item) => item.metadata.name)).not.toContain('c9')
    const all = await listAll(api.client, configMaps, { namespace: 'default', limit: 3 })
    expect(all.items.filter((item) => item.metadata.name.startsWith('c'))).toHaveLength(8)
  })

  it('begins anew when that state is forgotten between two pages', async () => {
    for (let index = 0; index < 3; index += 1) await api.client.create(configMaps, configMap(`c${index}`))
    const client = await api.openClient('test')
    const list = client.list.bind(client)
    const continued: unknown[] = []
    client.list = async (resource, options) => {
      if (options?.continue !== undefined) {
        continued.push(options.continue)
        await api.client.create(configMaps, configMap('late'))
        await api.kill()
        await api.compact()
        await api.restart()
        await expect(list(resource, options)).rejects.toThrow(KubeGoneError)
      }
      return list(resource, options)
    }
    const all = await listAll(client, configMaps, { namespace: 'default', limit: 2 })
    expect(continued).toHaveLength(1)
    expect(all.items.map((item) => item.metadata.name)).toEqual(
      expect.arrayContaining(['c0', 'c1', 'c2', 'late']),
    )
  })

  it('selects by label, field and namespace', async () => {
    await api.client.create(configMaps, { metadata: { ...ref, labels: { l: 'v' } } })
    await api.client.create(configMaps, configMap('b'))
    const byLabel = await api.client.list(configMaps, { labelSelector: 'l=v' })
    expect(byLabel.items.map((item) => item.metadata.name)).toEqual(['a'])
    const byField = await api.client.list(configMaps, {
      namespace: 'default',
      fieldSelector: 'metadata.name=b',
    })
    expect(byField.items.map((item) => item.metadata.name)).toEqual(['b'])
    expect(
      (await api.client.list(configMaps, { namespace: 'kube-public', labelSelector: 'l=v' })).items,
    ).toEqual([])
  })
})

describe('refusals', () => {
  it('are typed and say what the server said', async () => {
    await api.client.create(configMaps, configMap('a'))
    await expect(api.client.create(configMaps, configMap('a'))).rejects.toThrow(KubeAlreadyExistsError)
    const stale = { metadata: { ...ref, resourceVersion: '1' } }
    await expect(api.client.replace(configMaps, stale)).rejects.toThrow(KubeConflictError)
    const missing = api.client.patch(configMaps, { ...ref, name: 'z' }, 'application/merge-patch+json', {
      data: {},
    })
    await expect(missing).rejects.toThrow(KubeNotFoundError)
    const senseless = api.client.patch(configMaps, ref, 'application/merge-patch+json', [])
    await expect(senseless).rejects.toThrow(KubeBadRequestError)
  })

  it('name the fields that are not valid', async () => {
    const service = { metadata: ref, spec: { ports: [{ port: 70_000 }] } }
    const refusal = await api.client.create(services, service).catch((error: unknown) => error)
    if (!(refusal instanceof KubeInvalidError)) throw refusal
    expect(refusal.retry).toBe('on-change')
    expect(refusal.details.causes.map((cause) => cause.field)).toContain('spec.ports[0].port')
  })

  it('tell a missing resource type from a missing object', async () => {
    const unknown: Resource = {
      group: 'kubeovn.io',
      version: 'v9',
      kind: 'No',
      plural: 'nos',
      namespaced: false,
    }
    await expect(api.client.get(unknown, { name: 'a' })).rejects.toThrow(KubeNotFoundError)
    await expect(api.client.get(configMaps, { namespace: 'none', name: 'a' })).resolves.toBeUndefined()
  })

  it('include wrong credentials, an untrusted certificate and no server at all', async () => {
    const access = await loadKubeconfig(api.kubeconfigPath)
    const userAgent = 'test'
    const authenticate = (): Promise<{ authorization: string }> =>
      Promise.resolve({ authorization: 'Bearer wrong' })
    await using stranger = new KubeClient({ ...access, authenticate }, { userAgent })
    await expect(stranger.list(pods)).rejects.toThrow(KubeUnauthorizedError)
    await using distrustful = new KubeClient({ ...access, ca: undefined }, { userAgent })
    await expect(distrustful.list(pods)).rejects.toThrow(KubeConnectionError)
    await using lost = new KubeClient({ ...access, server: 'https://127.0.0.1:1' }, { userAgent })
    await expect(lost.list(pods)).rejects.toMatchObject({ details: { endpoint: 'https://127.0.0.1:1' } })
  })

  it('pass on the reason of the caller who gave up', async () => {
    const signal = AbortSignal.abort(new Error('gave up'))
    await expect(api.client.list(pods, { signal })).rejects.toThrow('gave up')
  })
})

describe('credentials', () => {
  it('are read anew when the server refuses them', async () => {
    const access = await loadKubeconfig(api.kubeconfigPath)
    const asked: boolean[] = []
    async function authenticate(renew: boolean): Promise<{ authorization?: string }> {
      asked.push(renew)
      return asked.includes(true) ? access.authenticate(renew) : { authorization: 'Bearer expired' }
    }
    await using client = new KubeClient({ ...access, authenticate }, { userAgent: 'test' })
    await expect(client.list(pods)).resolves.toMatchObject({ items: [] })
    expect(asked).toEqual([false, true])
  })

  it('come from a plug-in that a kubeconfig names', async () => {
    await using temporary = await TemporaryDirectory.make()
    const directory = temporary.path
    const { ca, certificate, privateKey } = api.adminCertificate
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: {
        clientCertificateData: await readFile(certificate, 'utf8'),
        clientKeyData: await readFile(privateKey, 'utf8'),
      },
    }
    await writeFile(join(directory, 'credential.json'), JSON.stringify(credential))
    const config = `
current-context: c
contexts: [{ name: c, context: { cluster: c, user: u } }]
clusters: [{ name: c, cluster: { server: "${api.url}", certificate-authority: "${ca}" } }]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: cat
      args: ["${join(directory, 'credential.json')}"]
      interactiveMode: Never
`
    await writeFile(join(directory, 'kubeconfig'), config)
    await using client = new KubeClient(await loadKubeconfig(join(directory, 'kubeconfig')), {
      userAgent: 'test',
    })
    await expect(client.list(pods)).resolves.toMatchObject({ items: [] })
  })
})

describe('large integers', () => {
  interface Counter extends KubeObject {
    readonly spec: { readonly exact: number | bigint; readonly float: number | bigint }
  }

  const counters: Resource<Counter> = {
    group: 'test.kubeovn.io',
    version: 'v1',
    kind: 'Counter',
    plural: 'counters',
    namespaced: false,
  }

  it('keep every digit up to 64 bits, and the float that the server makes of more', async () => {
    await using directory = await TemporaryDirectory.make()
    const file = join(directory.path, 'counter.yaml')
    await writeFile(
      file,
      `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: counters.test.kubeovn.io }
spec:
  group: test.kubeovn.io
  scope: Cluster
  names: { kind: Counter, plural: counters }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: { exact: { type: integer, format: int64 }, float: { type: number } }
`,
    )
    await api.installCrds(file)
    const spec = { exact: 9223372036854775807n, float: 18446744073709551614n }
    await api.client.create(counters, { metadata: { name: 'a' }, spec })
    const read = await api.client.get(counters, { name: 'a' })
    expect(read?.spec.exact).toBe(9223372036854775807n)
    expect(Number(read?.spec.float)).toBe(2 ** 64)
    await api.reset()
    expect((await api.client.list(counters)).items).toEqual([])
  })
})

/** Parts of an admission policy, as far as the test needs them. */
function policyResource(kind: string): Resource<KubeObject & { readonly spec: object }> {
  const plural = kind
    .replace(/Policy$/, 'policies')
    .replace(/Binding$/, 'bindings')
    .toLowerCase()
  return { group: 'admissionregistration.k8s.io', version: 'v1', kind, plural, namespaced: false }
}

it('tells a denial by a policy from what is not valid', async () => {
  const metadata = { name: 'no-secrets-in-maps.example.com' }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  await api.client.create(policyResource('ValidatingAdmissionPolicy'), {
    metadata,
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: '!has(object.data) || !("secret" in object.data)', message: 'no secrets' }],
    },
  })
  await api.client.create(policyResource('ValidatingAdmissionPolicyBinding'), {
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  })
  // The server compiles policies when it comes to it.
  const denied = configMap('denied', { secret: '1' })
  const answer = () => api.client.create(configMaps, denied).catch((error: unknown) => error)
  await expect.poll(answer).toBeInstanceOf(KubeDeniedError)
  expect(await answer()).toMatchObject({ retry: 'backoff', details: { status: 422 } })
})
