import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { clientProgram, serverProgram, type Measured } from './programs.ts'

/** Runs a program as a pod does; one that serves says when it listens. */
function start(program: string) {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe'] })
  return {
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function firstLine({ child }: ReturnType<typeof start>, of: 'stdout' | 'stderr'): Promise<string> {
  const [line] = (await once(createInterface({ input: child[of] }), 'line')) as [string]
  return line
}

it('measures latency, bandwidth and loss by TCP and UDP', async () => {
  const port = await freePort()
  await using _server = start(serverProgram(port))
  const measurement = { host: '127.0.0.1', port, size: 512, seconds: 0.2 }
  const measureOnce = async (): Promise<string> => {
    await using client = start(clientProgram(measurement))
    return await Promise.race([firstLine(client, 'stdout'), firstLine(client, 'stderr')])
  }
  // It may not listen yet.
  await expect.poll(measureOnce, { timeout: 50_000 }).toContain('tcpLatencySeconds')
  const found = JSON.parse(await measureOnce()) as Measured
  expect(found.tcpLatencySeconds).toBeGreaterThan(0)
  expect(found.udpLatencySeconds).toBeGreaterThan(0)
  expect(found.tcpBitsPerSecond).toBeGreaterThan(512 * 8)
  expect(found.udpBitsPerSecond).toBeGreaterThan(512 * 8)
  expect(found.udpLostRatio).toBeGreaterThanOrEqual(0)
  expect(found.udpLostRatio).toBeLessThan(1)
})

it('says who does not answer', async () => {
  const port = await freePort()
  await using client = start(clientProgram({ host: '127.0.0.1', port, size: 64, seconds: 0.1 }))
  expect(await firstLine(client, 'stderr')).toContain(`ECONNREFUSED 127.0.0.1:${port}`)
  const [code] = client.child.exitCode === null ? await once(client.child, 'exit') : [client.child.exitCode]
  expect(code).toBe(1)
})
