import { createServer } from 'node:net'
import { once } from 'node:events'
import { recordingLogger } from '@kube-ovn/log'
import { tryPort } from '@kube-ovn/probes'
import { expect, it } from 'vitest'
import { answerConnectionChecks } from './connection-checks.ts'

/** A TCP port that nobody has, and a server that keeps it. */
async function takenPort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return { port, [Symbol.dispose]: () => void server.close() }
}

function configOf(port: number, isOn = true) {
  return {
    enableVerboseConnCheck: isOn,
    tcpConnCheckPort: port,
    udpConnCheckPort: port,
    enableBindLocalIp: true,
    podIps: ['127.0.0.1', '::1'],
  }
}

async function isOpen(protocol: 'tcp' | 'udp', address: string, port: number): Promise<boolean> {
  return (await tryPort({ protocol, address, port }, 5000)).isOpen
}

it('answers TCP and UDP on the own addresses, and nothing unless it is asked to', async () => {
  let port: number
  {
    using free = await takenPort()
    port = free.port
  }
  const tries = () =>
    Promise.all(
      (['tcp', 'udp'] as const).flatMap((protocol) =>
        ['127.0.0.1', '::1'].map((address) => isOpen(protocol, address, port)),
      ),
    )
  {
    await using _off = await answerConnectionChecks(configOf(port, false), recordingLogger())
    expect(await tries()).toEqual([false, false, false, false])
  }
  await using _on = await answerConnectionChecks(configOf(port), recordingLogger())
  expect(await tries()).toEqual([true, true, true, true])
})

it('says which port somebody else has, and goes on', async () => {
  using taken = await takenPort()
  const log = recordingLogger()
  await using _checks = await answerConnectionChecks(configOf(taken.port), log)
  expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([
    {
      fields: {
        address: '127.0.0.1',
        tcpPort: taken.port,
        cure: expect.stringContaining('free these ports'),
      },
    },
  ])
  expect(await isOpen('tcp', '::1', taken.port)).toBe(true)
})
