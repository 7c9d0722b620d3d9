import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { createAuthority, startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OvsdbClient } from './client.ts'
import type { ClientState } from './client-state.ts'
import { TlsFileError, TlsHandshakeError } from './errors.ts'
import type { TlsFiles } from './tls.ts'

let northbound: Northbound
let address: string
let directory: string
/** A certificate that the server trusts; renewed for each test. */
let tls: TlsFiles
/** A certificate of another authority, which the server does not trust. */
let foreign: TlsFiles

beforeAll(async () => {
  northbound = await startNorthbound({ tls: true })
  directory = await mkdtemp(join(tmpdir(), 'ovsdb-client-tls-'))
  address = northbound.tls?.address ?? expect.unreachable()
  foreign = await createAuthority(join(directory, 'foreign'))
})
afterAll(async () => {
  await northbound[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

beforeEach(async () => {
  const { ca, certificate, privateKey } = northbound.tls?.certificates ?? expect.unreachable()
  tls = files('own')
  await writeFile(tls.caFile, ca)
  await writeFile(tls.certificateFile, certificate)
  await writeFile(tls.privateKeyFile, privateKey)
})

function files(name: string): TlsFiles {
  return {
    caFile: join(directory, `${name}-ca.pem`),
    certificateFile: join(directory, `${name}.pem`),
    privateKeyFile: join(directory, `${name}-key.pem`),
  }
}

function open(files: TlsFiles, endpoint = address): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: [endpoint],
    schema: ovnNorthboundSchema,
    tables: { NB_Global: {} },
    tls: files,
    backoff: { initialMs: 10, maxMs: 50, factor: 2, jitter: 0 },
  })
}

/** Why the client waits before it tries again; the first time that it is of a type, if one is given. */
function failure(
  client: OvsdbClient<OvnNorthbound>,
  type: abstract new (...args: never[]) => object = Object,
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const subscription = client.onState((state: ClientState) => {
    if (state.phase !== 'waiting' || !(state.cause.cause instanceof type)) return
    subscription[Symbol.dispose]()
    resolve(state.cause.cause)
  })
  client.connect().catch(() => undefined)
  return promise
}

describe('a connection that cannot be trusted', () => {
  it('says that the authority did not sign the certificate of the server', async () => {
    await using client = open({ ...tls, caFile: foreign.caFile })
    const cause = await failure(client)
    expect(cause).toBeInstanceOf(TlsHandshakeError)
    expect(cause).toMatchObject({ details: { endpoint: address, file: foreign.caFile } })
    expect(cause).toMatchObject({
      details: { problem: 'the certificate of the server is of an unknown authority' },
    })
  })

  it('says that the server refused the certificate of the client', async () => {
    await using client = open({ ...foreign, caFile: tls.caFile })
    const cause = await failure(client)
    expect(cause).toBeInstanceOf(TlsHandshakeError)
    expect(cause).toMatchObject({ details: { endpoint: address, file: foreign.certificateFile } })
    expect(cause).toMatchObject({ details: { problem: 'the server refused the certificate of this client' } })
  })

  it('says that the server does not speak TLS', async () => {
    const endpoint = northbound.address.replace('tcp:', 'ssl:')
    await using client = open(tls, endpoint)
    const cause = await failure(client)
    expect(cause).toMatchObject({ code: expect.stringMatching(/^ovsdb-tls-handshake$|^ECONNRESET$/) })
  })

  it.each(['caFile', 'certificateFile', 'privateKeyFile'] as const)(
    'names a %s that is wrong',
    async (name) => {
      const cases = { missing: undefined, empty: '', nonsense: 'nonsense', broken: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' } // prettier-ignore
      for (const [kind, text] of Object.entries(cases)) {
        const file = join(directory, `${name}-${kind}.pem`)
        if (text !== undefined) await writeFile(file, text)
        await using client = open({ ...tls, [name]: file })
        const cause = await failure(client)
        expect(cause, kind).toBeInstanceOf(TlsFileError)
        expect(cause, kind).toMatchObject({ details: { file } })
      }
    },
  )

  it('names a key that is of another certificate', async () => {
    await using client = open({ ...tls, privateKeyFile: foreign.privateKeyFile })
    expect(await failure(client)).toMatchObject({
      code: 'ovsdb-tls-file',
      details: { file: foreign.privateKeyFile },
    })
  })

  it('is there as soon as the files are right', async () => {
    const renewed = files('renewed')
    await copyFile(foreign.certificateFile, renewed.certificateFile)
    await copyFile(foreign.privateKeyFile, renewed.privateKeyFile)
    await copyFile(tls.caFile, renewed.caFile)
    await using client = open(renewed)
    await failure(client)
    await copyFile(tls.privateKeyFile, renewed.privateKeyFile)
    await copyFile(tls.certificateFile, renewed.certificateFile)
    await client.connect()
    expect(client.cache.count('NB_Global')).toBe(1)
  })
})

it('files that change concern the next connection, not the present one', async () => {
  const [, host = '', port = ''] = address.split(':')
  await using proxy = await startProxy(`tcp:${host}:${port}`)
  await using client = open(tls, proxy.address.replace('tcp:', 'ssl:'))
  await client.connect()
  await copyFile(foreign.certificateFile, tls.certificateFile)
  await copyFile(foreign.privateKeyFile, tls.privateKeyFile)
  await client.transact([client.operations.comment('still here')])
  const refused = failure(client, TlsHandshakeError)
  proxy.cut()
  proxy.mend()
  expect(await refused).toMatchObject({ details: { file: tls.certificateFile } })
  const { certificate, privateKey } = northbound.tls?.certificates ?? expect.unreachable()
  await writeFile(tls.certificateFile, certificate)
  await writeFile(tls.privateKeyFile, privateKey)
  await client.connect()
})
