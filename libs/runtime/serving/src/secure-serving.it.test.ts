import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import { readConfig, serveHealth, systemClock } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSecureServing, type SecureServingOptions } from './secure-serving.ts'
import { selfSigned } from './self-signed.ts'
import { secureServingSettings } from './settings.ts'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const accounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}
const bindings: Resource = {
  ...rbac,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
}
interface TokenRequest extends KubeObject {
  readonly status?: { readonly token?: string }
}
const tokenRequests: Resource<TokenRequest> = {
  ...{ group: '', version: 'v1', kind: 'TokenRequest', plural: 'serviceaccounts', namespaced: true },
}

let api: KubeApi
/** Of an account that may read metrics as the chart says, and of one that may not. */
let reader: string
let other: string
const directory = mkdtempSync(join(tmpdir(), 'secure-serving-'))

beforeAll(async () => {
  api = await startKubeApi({ accounts: { features: { enableSecureServing: true } } })
  reader = await tokenOf('prometheus')
  other = await tokenOf('somebody')
  await api.client.create(bindings, {
    metadata: { name: 'prometheus' },
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'kube-ovn-metrics-reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'kube-system' }],
  } as KubeObject)
})
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await api[Symbol.asyncDispose]()
})

async function tokenOf(name: string): Promise<string> {
  const metadata = { namespace: 'kube-system', name }
  await api.client.create(accounts, { metadata })
  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: {} }
  const made = await api.client.create(tokenRequests, wanted, { subresource: 'token' })
  return made.status?.token ?? ''
}

/** Serves a page of metrics with the rights that the chart gives pingers and monitors. */
async function serve(
  flags: readonly string[],
  more: Partial<Pick<SecureServingOptions, 'client' | 'lookEveryMs'>> = {},
) {
  await using stack = new AsyncDisposableStack()
  const command = { name: 'test', summary: '', examples: [], settings: secureServingSettings }
  const parsed = readConfig(command, ['--secure-serving', ...flags], {})
  if (parsed.kind === 'help') throw new Error('no configuration')
  const log = recordingLogger()
  const client = more.client ?? stack.use(await api.openClient('test', 'kube-system/kube-ovn-app'))
  const options = { config: parsed.config, hosts: ['127.0.0.1'], client, log, clock: systemClock, ...more }
  const secure = stack.use((await openSecureServing(options)) ?? expect.unreachable('it is switched on'))
  const readiness = (): readonly string[] => []
  const common = { addresses: ['127.0.0.1'], port: 0, registry: new Registry(), secure }
  const { endpoints } = stack.use(await serveHealth({ ...common, readiness, liveness: readiness }))
  const owned = stack.move()
  return {
    log,
    port: Number(endpoints[0]?.split(':')[1]),
    ca: String(secure.context.cert),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface Asked {
  readonly port: number
  readonly ca: string
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly protocol: string
}

/** Asks as somebody who checks the certificate. */
function ask({ port, ca }: Asked, path: string, authorization?: string, tls: object = {}): Promise<Answer> {
  const headers = authorization === undefined ? {} : { authorization }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca, headers, agent: false, ...tls }
    const sent = request(options, (response) => {
      let text = ''
      const protocol = 'getProtocol' in response.socket ? String(Object(response.socket).getProtocol()) : ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text, protocol }))
    })
    sent.once('error', reject).end()
  })
}

it('shows metrics to those who may read them, tells others why not, and health to everybody', async () => {
  await using server = await serve([])
  expect((await ask(server, '/metrics', `Bearer ${reader}`)).status).toBe(200)
  expect(await ask(server, '/metrics', `Bearer ${other}`)).toMatchObject({
    status: 403,
    text: expect.stringContaining('system:serviceaccount:kube-system:somebody may not get /metrics'),
  })
  for (const authorization of [
    undefined,
    'Bearer garbage',
    'Bearer',
    'Basic eDp5',
    `Bearer ${reader.slice(0, -4)}AAAA`,
  ])
    expect((await ask(server, '/metrics', authorization)).status).toBe(401)
  expect(await ask(server, '/readyz')).toMatchObject({ status: 200, text: 'ok' })
  await expect(fetch(`http://127.0.0.1:${server.port}/metrics`)).rejects.toThrow('fetch failed')
})

it('asks the API server once in ten seconds for a token, also of many who ask at once', async () => {
  await using own = await api.openClient('test', 'kube-system/kube-ovn-app')
  let reviews = 0
  const create: typeof own.create = (...args) => {
    reviews++
    return own.create(...args)
  }
  await using server = await serve([], { client: { create } })
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask(server, '/metrics', `Bearer ${reader}`)),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(reviews).toBe(2)
})

it('tells that it can not know while the API server is away, once in the log', async () => {
  const create = () => Promise.reject(new Error('away'))
  await using server = await serve([], { client: { create } })
  for (const token of ['a', 'b', 'c'])
    expect((await ask(server, '/metrics', `Bearer ${token}`)).status).toBe(503)
  expect((await ask(server, '/healthz')).status).toBe(200)
  expect(server.log.lines.map(({ message }) => message)).toEqual(['a token could not be reviewed'])
})

it('offers the versions that it is told to, and no others', async () => {
  await using server = await serve(['--tls-min-version=TLS13'])
  expect(await ask(server, '/healthz')).toMatchObject({ status: 200, protocol: 'TLSv1.3' })
  await expect(ask(server, '/healthz', undefined, { maxVersion: 'TLSv1.2' })).rejects.toThrow(
    /version|alert/i,
  )
})

it('serves with files, and with those that take their place', async () => {
  const files = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  const write = (): string => {
    const until = new Date(Date.now() + 3_600_000)
    const pair = selfSigned({ hosts: ['127.0.0.1'], from: new Date(Date.now() - 60_000), until })
    writeFileSync(files.cert, pair.cert)
    writeFileSync(files.key, pair.key)
    return pair.cert
  }
  const first = write()
  const flags = [`--tls-cert-file=${files.cert}`, `--tls-private-key-file=${files.key}`]
  await using server = await serve(flags, { lookEveryMs: 20 })
  expect((await ask({ ...server, ca: first }, '/healthz')).status).toBe(200)
  const second = write()
  await expect
    .poll(() => ask({ ...server, ca: second }, '/healthz').then(({ status }) => status, String), {
      timeout: 60_000,
    })
    .toBe(200)
  await expect(ask({ ...server, ca: first }, '/healthz')).rejects.toThrow(/self-signed|signature|verify/)
})

it.each([['--tls-cert-file=/x'], ['--tls-private-key-file=/x'], ['--tls-cipher-suites=RC4']])(
  'refuses %s',
  async (flag) => {
    await expect(serve([flag])).rejects.toMatchObject({ code: 'config-invalid' })
  },
)
