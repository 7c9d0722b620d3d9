import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiProxy } from './api-proxy.ts'
import type { KubeApi } from './kube-api.ts'
import { startKubeApi } from './start-kube-api.ts'

let api: KubeApi
let proxy: ApiProxy
let agent: Agent

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
