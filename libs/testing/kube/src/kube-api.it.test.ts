import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import {
  configMaps,
  endpointSlices,
  endpoints,
  namespaces,
  nodes,
  pods,
  services,
  type KubeClient,
  type KubeObject,
  type Resource,
} from '@kube-ovn/kube'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { docker, testLabel } from '@kube-ovn/testing-docker'
import type { KubeApi } from './kube-api.ts'
import { sharedKubeApi, startKubeApi } from './start-kube-api.ts'

let api: KubeApi

beforeAll(async () => {
  api = await startKubeApi({ controllerManager: true, advertiseAddress: '172.18.0.10' })
})

afterAll(() => api[Symbol.asyncDispose]())

beforeEach(() => api.reset())

/** Settles when an object of the name is there that satisfies the condition. */
async function appears<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  namespace: string,
  condition: (object: T) => boolean,
): Promise<T> {
  for await (const event of await client.watchStream(resource, { namespace, timeoutSeconds: 180 })) {
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && condition(event.object)) return event.object
  }
  throw new Error('object did not appear in time')
}

describe('startKubeApi', () => {
  it('has both families of service addresses, and the advertised address behind Service kubernetes', async () => {
    const ref = { namespace: 'default', name: 'web' }
    const spec = { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] } as const
    const { spec: allocated } = await api.client.create(services, { metadata: ref, spec })
    expect(allocated?.ipFamilies).toEqual(['IPv4', 'IPv6'])
    expect(allocated?.clusterIPs?.[1]).toMatch(/^fd00:10:96::/)
    const kubernetes = await appears(
      api.client,
      endpoints,
      'default',
      ({ metadata }) => metadata.name === 'kubernetes',
    )
    expect(kubernetes.subsets?.[0]?.addresses?.[0]?.ip).toBe('172.18.0.10')
  })

  it('runs the controllers that were asked for', async () => {
    const labels = { app: 'web' }
    const containers = [{ name: 'c', image: 'i' }]
    const pod = {
      metadata: { namespace: 'default', name: 'web-1', labels },
      spec: { nodeName: 'n1', containers },
    }
    await api.client.create(nodes, { metadata: { name: 'n1' } })
    await api.client.create(pods, pod)
    const ready = { type: 'Ready', status: 'True' }
    const status = {
      status: { phase: 'Running', podIPs: [{ ip: '10.16.0.5' }], podIP: '10.16.0.5', conditions: [ready] },
    }
    const options = { subresource: 'status' }
    await api.client.patch(pods, pod.metadata, 'application/merge-patch+json', status, options)
    const spec = { selector: labels, ports: [{ port: 80 }] }
    await api.client.create(services, { metadata: { namespace: 'default', name: 'web' }, spec })
    const slice = await appears(
      api.client,
      endpointSlices,
      'default',
      ({ metadata, endpoints: found }) => metadata.name.startsWith('web-') && found !== null,
    )
    expect(slice.endpoints?.[0]).toMatchObject({ addresses: ['10.16.0.5'], conditions: { ready: true } })
  })
})

describe('reset', () => {
  it('empties the cluster whatever its finalizers, shows watches each deletion and frees service addresses', async () => {
    const before = await api.client.list(configMaps, { namespace: 'default' })
    const names = Array.from({ length: 200 }, (_none, index) => `c${index}`)
    const finalizers = ['kubeovn.io/test']
    await Promise.all(
      names.map((name) =>
        api.client.create(configMaps, { metadata: { namespace: 'default', name, finalizers } }),
      ),
    )
    const service = {
      metadata: { namespace: 'default', name: 's' },
      spec: { clusterIP: '10.96.0.77', ports: [{ port: 80 }] },
    }
    await api.client.create(services, service)
    await api.client.create(namespaces, { metadata: { name: 'shop' } })
    await api.client.patch(namespaces, { name: 'default' }, 'application/merge-patch+json', {
      metadata: { labels: { changed: 'yes' } },
    })
    const { resourceVersion } = await api.client.list(configMaps, { limit: 1 })
    const events = await api.client.watchStream(configMaps, { namespace: 'default', resourceVersion })
    const deleted = new Set<string>()
    const seen = (async () => {
      for await (const event of events) {
        if (event.type === 'DELETED') deleted.add(event.object.metadata.name)
        if (names.every((name) => deleted.has(name))) return
      }
    })()

    await api.reset()
    await seen
    const after = await api.client.list(configMaps, { namespace: 'default' })
    expect(after.items.map((item) => item.metadata.name)).toEqual(
      before.items.map((item) => item.metadata.name),
    )
    expect(await api.client.get(namespaces, { name: 'shop' })).toBeUndefined()
    const label = (await api.client.get(namespaces, { name: 'default' }))?.metadata.labels?.['changed']
    expect(label).toBeUndefined()
    await expect(api.client.create(services, service)).resolves.toBeDefined()
  })
})

describe('the container', () => {
  it('is shared by those who ask for the same, and is empty each time', async () => {
    const first = await sharedKubeApi()
    await first.client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } })
    const second = await sharedKubeApi()
    expect(second).toBe(first)
    expect(await second.client.get(configMaps, { namespace: 'default', name: 'a' })).toBeUndefined()
  })

  it('goes away with a process that is killed, and so does its directory', async () => {
    const script = `
      import { startKubeApi } from ${JSON.stringify(`${import.meta.dirname}/index.ts`)}
      const api = await startKubeApi()
      console.log(api.kubeconfigPath)
      process.kill(process.pid, 'SIGKILL')
    `
    const died = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
    const { stdout } = await died.then(
      () => ({ stdout: '' }),
      (error: { readonly stdout: string }) => error,
    )
    const directory = dirname(stdout.trim())
    expect(basename(directory)).not.toBe('')
    const ids = (await docker('ps', '--quiet', '--filter', `label=${testLabel}`)).split('\n').filter(Boolean)
    const environments = await Promise.all(
      ids.map((id) => docker('inspect', '--format', '{{.Config.Env}}', id).catch(() => '')),
    )
    const ours = ids.find((_id, index) => environments[index]?.includes(basename(directory)))
    // The engine may still be at it.
    if (ours !== undefined) await docker('wait', ours).catch(() => undefined)
    const state =
      ours === undefined
        ? 'gone'
        : await docker('inspect', '--format', '{{.State.Running}}', ours).catch(() => 'gone')
    expect(state).not.toBe('true')
    expect(existsSync(directory)).toBe(false)
  })

  it('leaves nothing behind when it is disposed', async () => {
    const brief = await startKubeApi()
    const directory = dirname(brief.kubeconfigPath)
    expect(existsSync(directory)).toBe(true)
    await brief[Symbol.asyncDispose]()
    expect(existsSync(directory)).toBe(false)
  })
})
