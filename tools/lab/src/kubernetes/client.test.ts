import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ApiClient } from './client.ts'
import { waitForObjects } from './wait.ts'

const path = '/api/v1/pods'
const list = JSON.stringify({ metadata: { resourceVersion: '7' }, items: [] })
const never = new AbortController().signal

/** A client of a server that answers as it is told. */
async function clientOf(answer: RequestListener): Promise<ApiClient> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') return expect.unreachable()
  const directory = mkdtempSync(join(tmpdir(), 'kube-ovn-client-'))
  const kubeconfig = join(directory, 'kubeconfig')
  const clusters = [{ cluster: { server: `http://127.0.0.1:${address.port}` } }]
  writeFileSync(kubeconfig, JSON.stringify({ clusters, users: [{ user: {} }] }))
  const client = new ApiClient(kubeconfig)
  onTestFinished(() => {
    client[Symbol.dispose]()
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true })
  })
  return client
}

it.each([429, 500])('tells that a watch is refused with %i', async (status) => {
  const api = await clientOf(({ url }, response) => {
    if (url === path) response.end(list)
    else response.writeHead(status).end(JSON.stringify({ kind: 'Status', message: 'not now' }))
  })
  await expect(api.follow(path, () => undefined, never)).rejects.toMatchObject({
    details: { method: 'GET', path: expect.stringContaining('watch=true'), status, reason: 'not now' },
  })
})

it.each([
  ['a list', () => undefined],
  [
    'a list that has begun',
    (response: Parameters<RequestListener>[1]) => void response.write(list.slice(0, 10)),
  ],
])('waits no longer for %s than it is told to', async (_, answer) => {
  const api = await clientOf((_request, response) => answer(response))
  await expect(waitForObjects(api, path, 'a pod', () => undefined, 50)).rejects.toMatchObject({
    details: { what: 'a pod', timeoutMs: 50 },
  })
})

it('waits no longer for a watch than it is told to', async () => {
  const api = await clientOf(({ url }, response) => {
    if (url === path) response.end(list)
  })
  await expect(waitForObjects(api, path, 'a pod', () => undefined, 50)).rejects.toMatchObject({
    details: { what: 'a pod' },
  })
})

it('deletes what it has listed, though a list says of none of its objects what it is', async () => {
  const deleted: unknown[] = []
  const api = await clientOf(({ method, url }, response) => {
    if (method === 'DELETE') deleted.push(url)
    const resources = [{ name: 'pods', kind: 'Pod', namespaced: true }]
    const items = [{ metadata: { name: 'web', namespace: 'shop' } }]
    response.end(
      url === path
        ? JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '7' }, items })
        : JSON.stringify({ resources }),
    )
  })
  const [listed] = await api.list(path)
  const followed = await api.follow(path, ([pod]) => pod, never)
  for (const pod of [listed, followed]) await api.delete(pod ?? expect.unreachable())
  expect(deleted).toEqual(Array(2).fill('/api/v1/namespaces/shop/pods/web'))
  await expect(api.delete({ metadata: { name: 'web' } })).rejects.toThrow('web says no kind')
})
