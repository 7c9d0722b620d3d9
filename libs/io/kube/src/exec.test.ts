import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import type { ClusterAccess } from './cluster-access.ts'
import { KubeConnectionError } from './errors.ts'
import { execInPod } from './exec.ts'

afterEach(() => vi.useRealTimers())

it('waits for a server that takes its time to open the connection', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const access: ClusterAccess = {
    ...{ server: `http://127.0.0.1:${port}`, ca: undefined, tlsServerName: undefined, isVerified: true },
    authenticate: async () => ({}),
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const connected = once(server, 'connection') as Promise<[Socket]>
  const running = execInPod(access, {
    ...{ namespace: 'default', pod: 'web', container: 'web', command: ['true'], userAgent: 'test' },
    ...{ onStdout: () => undefined, onStderr: () => undefined },
  })
  const [socket] = await connected
  vi.advanceTimersByTime(20_000)
  expect(socket.destroyed).toBe(false)
  socket.destroy()
  await expect(running).rejects.toThrow(KubeConnectionError)
})
