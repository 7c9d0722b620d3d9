import { answerPorts } from '@kube-ovn/probes'
import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { askPort } from './ask-node.ts'

const loopback = {
  address: '127.0.0.1',
  netmask: '255.255.255.254',
  family: 'IPv4',
  mac: '00:00:00:00:00:00',
  internal: true,
  cidr: '127.0.0.0/31',
} as const

it('takes a connection and a refusal for an answer', async () => {
  const { tcpPort, ...ports } = await answerPorts({ address: '127.0.0.1', tcpPort: 0, udpPort: 0 })
  expect(await askPort('127.0.0.1', tcpPort, networkInterfaces())).toBe(true)
  await ports[Symbol.asyncDispose]()
  expect(await askPort('127.0.0.1', tcpPort, networkInterfaces())).toBe(true)
})

it('asks nobody who is on no link of this host, though somebody would answer', async () => {
  await using ports = await answerPorts({ address: '127.0.0.2', tcpPort: 0, udpPort: 0 })
  expect(await askPort('127.0.0.2', ports.tcpPort, { lo: [loopback] })).toBe(false)
  expect(await askPort('127.0.0.2', ports.tcpPort, { lo: [{ ...loopback, cidr: '127.0.0.0/30' }] })).toBe(
    true,
  )
  expect(await askPort('127.0.0.2', ports.tcpPort, { eth0: [{ ...loopback, cidr: null }] })).toBe(false)
})
