import { Registry } from '@kube-ovn/telemetry'
import { expect, it } from 'vitest'
import { bindAddresses, serveHealth, type HealthServerOptions } from './http-server.ts'

async function serve(more: Partial<HealthServerOptions>) {
  const options = { addresses: ['127.0.0.1'], port: 0, readiness: () => [], liveness: () => [], ...more }
  const server = await serveHealth(options)
  const [address] = server.endpoints
  return {
    async get(path: string): Promise<[number, string]> {
      const response = await fetch(`http://${address}${path}`)
      return [response.status, await response.text()]
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

it('tells health, liveness and readiness, with the reasons', async () => {
  const reasons: string[] = []
  await using server = await serve({ readiness: () => reasons })
  expect(await server.get('/readyz')).toEqual([200, 'ok'])
  reasons.push('not connected to the database')
  expect(await server.get('/readyz')).toEqual([503, 'not connected to the database\n'])
  expect(await server.get('/livez')).toEqual([200, 'ok'])
  expect(await server.get('/healthz')).toEqual([200, 'ok'])
  expect((await server.get('/other'))[0]).toBe(404)
})

it('serves metrics when there is a registry', async () => {
  await using without = await serve({})
  expect((await without.get('/metrics'))[0]).toBe(404)
  await using server = await serve({ registry: new Registry() })
  expect((await server.get('/metrics'))[0]).toBe(200)
})

it('gives back what it had bound when one address cannot be', async () => {
  await using first = await serveHealth({
    addresses: ['127.0.0.1'],
    port: 0,
    readiness: () => [],
    liveness: () => [],
  })
  const port = Number(first.endpoints[0]?.split(':')[1])
  const twice = { addresses: ['127.0.0.2', '127.0.0.1'], port, readiness: () => [], liveness: () => [] }
  await expect(serveHealth(twice)).rejects.toThrow('EADDRINUSE')
  await using _again = await serveHealth({ ...twice, addresses: ['127.0.0.2'] })
})

it('binds all addresses, or the pod ones only', () => {
  expect(bindAddresses(false, ['10.0.0.1'])).toEqual(['::'])
  expect(bindAddresses(true, ['10.0.0.1', 'fd00::1'])).toEqual(['10.0.0.1', 'fd00::1'])
  expect(() => bindAddresses(true, [])).toThrow(expect.objectContaining({ code: 'config-invalid' }))
})

it('answers both families on the wildcard address', async () => {
  await using server = await serveHealth({
    addresses: ['::'],
    port: 0,
    readiness: () => [],
    liveness: () => [],
  })
  const port = server.endpoints[0]?.split(':').at(-1)
  for (const host of ['127.0.0.1', '[::1]'])
    expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200)
})
