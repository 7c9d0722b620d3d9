import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ping } from './ping.ts'

/** Listens where an engine would, and answers requests with a status, or not at all. */
async function listen(stack: AsyncDisposableStack, status?: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-engine-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const path = join(directory, 'docker.sock')
  const server = createServer((_, answer) => {
    if (status !== undefined) answer.writeHead(status).end()
  })
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(path), 'listening')
  return `unix://${path}`
}

const cure =
  'install and start Docker (apt-get install docker.io; systemctl start docker), or set DOCKER_HOST to the socket of an engine of this machine'

describe('an engine', () => {
  it('that answers is taken', async () => {
    await using stack = new AsyncDisposableStack()
    await expect(ping(await listen(stack, 200), 10_000)).resolves.toBeUndefined()
  })

  it('that is not there is told, with what to do', async () => {
    await expect(ping('unix:///nowhere/docker.sock', 10_000)).rejects.toThrow(
      `no Docker engine answers at unix:///nowhere/docker.sock (ENOENT): ${cure}`,
    )
  })

  it('that does not answer is not waited for', async () => {
    await using stack = new AsyncDisposableStack()
    const address = await listen(stack)
    await expect(ping(address, 100)).rejects.toThrow(
      `no Docker engine answers at ${address} (no answer within 0.1 s): ${cure}`,
    )
  })

  it('that is ill is told', async () => {
    await using stack = new AsyncDisposableStack()
    const address = await listen(stack, 500)
    await expect(ping(address, 10_000)).rejects.toThrow(`${address} (answers with status 500): ${cure}`)
  })

  it('of another machine is refused', async () => {
    await expect(ping('tcp://192.0.2.1:2375', 10_000)).rejects.toThrow(
      `no Docker engine answers at tcp://192.0.2.1:2375 (not a socket of this machine): ${cure}`,
    )
  })
})
