import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  KubeClient,
  KubeConnectionError,
  KubeTooManyRequestsError,
  configMaps,
  type ClusterAccess,
} from '@kube-ovn/kube'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ApiProxy } from './api-proxy.ts'
import type { KubeApi } from './kube-api.ts'
import { startKubeApi } from './start-kube-api.ts'

let api: KubeApi
let proxy: ApiProxy
let agent: Agent
let access: ClusterAccess

beforeAll(async () => {
  api = await startKubeApi({
    apiServerFlags: [
      '--requestheader-client-ca-file=ca.crt',
      // The administrator stands for the proxy, too.
      '--requestheader-allowed-names=admin',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
    ],
  })
  const { ca, certificate, privateKey } = api.adminCertificate
  const read = (path: string): Promise<string> => readFile(path, 'utf8')
  const admin = { cert: await read(certificate), key: await read(privateKey) }
  const own = (file: string): Promise<string> => read(join(dirname(ca), file))
  proxy = await ApiProxy.open({
    host: api.address,
    port: 6443,
    ca: await read(ca),
    server: { cert: await own('apiserver.crt'), key: await own('apiserver.key') },
    frontProxy: admin,
    listenHost: '127.0.0.1',
    listenPort: 0,
  })
  access = {
    server: `https://127.0.0.1:${proxy.port}`,
    ...{ ca: await read(ca), tlsServerName: undefined, isVerified: true },
    authenticate: () => Promise.resolve({ certificate: admin.cert, privateKey: admin.key }),
  }
  agent = new Agent({ connect: { ca: await read(ca), ...admin } })
})

afterAll(async () => {
  await agent.destroy()
  await proxy[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const namespaces = '/api/v1/namespaces'

async function ask(path: string, method: 'GET' | 'POST' = 'GET', body?: object) {
  const answer = await request(`https://127.0.0.1:${proxy.port}${path}`, {
    method,
    dispatcher: agent,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as Answer }
}

interface Answer {
  readonly items?: readonly unknown[]
  readonly code?: number
  readonly reason?: string
  readonly status?: { readonly userInfo?: { readonly username: string; readonly groups: readonly string[] } }
}

it('passes requests on as the client that sent them', async () => {
  proxy.faults = []
  const who = await ask('/apis/authentication.k8s.io/v1/selfsubjectreviews', 'POST', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  })
  expect(who.body.status?.userInfo).toMatchObject({
    username: 'admin',
    groups: expect.arrayContaining(['system:masters']) as unknown,
  })
})

it('answers in place of the server, and only what it is told to', async () => {
  proxy.faults = [{ kind: 'write', path: '/namespaces$', answer: 429 }]
  const before = proxy.matched
  const refused = await ask(namespaces, 'POST', { metadata: { name: 'never' } })
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1' },
    body: { reason: 'TooManyRequests' },
  })
  expect((await ask(namespaces)).status).toBe(200)
  expect(proxy.matched).toBe(before + 1)
  proxy.faults = []
  expect((await ask(`${namespaces}/never`)).status).toBe(404)
})

it('has a client that comes again as often as it was told to when the server asks for that', async () => {
  const refuse = (times: number): void => {
    proxy.faults = [{ path: '/configmaps$', answer: 429, times }]
  }
  await using once = new KubeClient(access, { userAgent: 'once' })
  await using patient = new KubeClient(access, { userAgent: 'patient', repeats: 2 })
  const write = (client: KubeClient, signal?: AbortSignal): Promise<unknown> =>
    client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } }, { signal })
  const before = proxy.matched
  refuse(1)
  await expect(write(once)).rejects.toThrow(KubeTooManyRequestsError)
  refuse(2)
  await write(patient)
  refuse(3)
  await expect(write(patient)).rejects.toThrow(KubeTooManyRequestsError)
  expect(proxy.matched).toBe(before + 1 + 2 + 3)
  refuse(1)
  const reason = new Error('interrupted')
  const stop = new AbortController()
  const written = write(patient, stop.signal)
  await vi.waitUntil(() => proxy.matched === before + 7)
  stop.abort(reason)
  await expect(written).rejects.toBe(reason)
})

it('has a client that does not wait for longer than for an answer, nor after it was closed', async () => {
  await using patient = new KubeClient(access, { userAgent: 'patient', repeats: 2, timeoutMs: 60_000 })
  const refuse = (retryAfterSeconds: number): void => {
    proxy.faults = [{ path: '/configmaps$', answer: 429, times: 1, retryAfterSeconds }]
  }
  const write = (): Promise<unknown> =>
    patient.create(configMaps, { metadata: { namespace: 'default', name: 'b' } })
  const before = proxy.matched
  refuse(61)
  await expect(write()).rejects.toThrow(KubeTooManyRequestsError)
  refuse(59)
  const written = write()
  const refused = expect(written).rejects.toThrow(KubeConnectionError)
  await vi.waitUntil(() => proxy.matched === before + 2)
  await patient[Symbol.asyncDispose]()
  await refused
})

it('ends connections in place of an answer', async () => {
  proxy.faults = [{ answer: 'reset' }]
  await expect(ask(namespaces)).rejects.toThrow(/closed|reset/i)
})

it('delays', async () => {
  proxy.faults = [{ kind: 'read', delayMs: 300 }]
  const since = performance.now()
  expect((await ask(namespaces)).status).toBe(200)
  expect(performance.now() - since).toBeGreaterThanOrEqual(299)
})

it('lets a watch begin, then drops it', async () => {
  proxy.faults = [{ kind: 'watch', resetAfterMs: 200 }]
  const answer = await request(`https://127.0.0.1:${proxy.port}${namespaces}?watch=true`, {
    dispatcher: agent,
  })
  let seen = ''
  await expect(async () => {
    for await (const chunk of answer.body) seen += String(chunk)
  }).rejects.toThrow(/closed|reset|terminated/i)
  expect(seen).toContain('"ADDED"')
})
