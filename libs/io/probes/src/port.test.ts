import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { answerPorts } from './port-echo.ts'
import { tryPort } from './port.ts'

it.each(['127.0.0.1', '::1'])('tells of TCP and UDP of %s whether somebody answers', async (address) => {
  const ports = await answerPorts({ address, tcpPort: 0, udpPort: 0 })
  const targets = [
    { protocol: 'tcp', address, port: ports.tcpPort },
    { protocol: 'udp', address, port: ports.udpPort },
  ] as const
  for (const target of targets) expect(await tryPort(target, 10_000)).toMatchObject({ isOpen: true })
  await ports[Symbol.asyncDispose]()
  for (const target of targets)
    expect(await tryPort(target, 10_000)).toEqual({ isOpen: false, error: 'ECONNREFUSED' })
})

it('gives up who takes a datagram and does not answer', async () => {
  const silent = createSocket('udp4')
  silent.bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const target = { protocol: 'udp', address: '127.0.0.1', port: silent.address().port } as const
  expect(await tryPort(target, 50)).toEqual({ isOpen: false, error: 'ETIMEDOUT' })
  silent.close()
})

it('answers no answer, so that two of them never go on by themselves', async () => {
  const address = '127.0.0.1'
  await using ports = await answerPorts({ address, tcpPort: 0, udpPort: 0 })
  const socket = createSocket('udp4')
  const heard: string[] = []
  socket.on('message', (message) => heard.push(message.toString()))
  socket.bind(0, address)
  await once(socket, 'listening')
  const send = (text: string): void => socket.send(text, ports.udpPort, address)
  send('health check')
  await expect.poll(() => heard).toHaveLength(1)
  send(heard[0] ?? '')
  // It comes after the other one, and so does what comes of it.
  send('health check')
  await expect.poll(() => heard).toHaveLength(2)
  socket.close()
  expect(heard).toEqual(['ok', 'ok'])
})

it('refuses to listen where somebody does', async () => {
  await using first = await answerPorts({ address: '127.0.0.1', tcpPort: 0, udpPort: 0 })
  const { tcpPort, udpPort } = first
  await expect(answerPorts({ address: '127.0.0.1', tcpPort, udpPort: 0 })).rejects.toThrow('EADDRINUSE')
  await expect(answerPorts({ address: '127.0.0.1', tcpPort: 0, udpPort })).rejects.toThrow('EADDRINUSE')
})
