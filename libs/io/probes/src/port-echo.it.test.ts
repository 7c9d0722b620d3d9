import { closeSync } from 'node:fs'
import { encodeAddress, libcFunction } from '@kube-ovn/netlink'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { describe, expect, it } from 'vitest'
import { answerPorts } from './port-echo.ts'
import { question, tryPort } from './port.ts'

const missing = missingForNamespaces()

const openSocket = libcFunction<[domain: number, type: number, protocol: number]>(
  'int socket(int domain, int type, int protocol)',
)
const sendTo = libcFunction<
  [fd: number, bytes: Buffer, length: number, flags: number, to: Buffer, toLength: number]
>('intptr_t sendto(int fd, const void *bytes, size_t length, int flags, const void *to, uint32_t toLength)')

/** AF_INET, SOCK_RAW with SOCK_CLOEXEC, IPPROTO_UDP. */
const rawUdp = [2, 3 | 0o2000000, 17] as const

/** Sends a datagram as no socket of UDP would: with a port that nobody can answer to. */
function sendFromPort0(address: string, port: number): void {
  const header = Buffer.alloc(8)
  header.writeUInt16BE(port, 2)
  header.writeUInt16BE(header.length + question.length, 4)
  const datagram = Buffer.concat([header, question])
  const to = Buffer.alloc(16)
  to.writeUInt16LE(2, 0)
  encodeAddress('address', address).copy(to, 4)
  const descriptor = openSocket(...rawUdp)
  expect(sendTo(descriptor, datagram, datagram.length, 0, to, to.length)).toBe(datagram.length)
  closeSync(descriptor)
}

describe.skipIf(missing)(`answering ports${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('goes on when somebody asks from a port that can not be answered to', async () => {
    const address = '127.0.0.1'
    await using ports = await answerPorts({ address, tcpPort: 0, udpPort: 0 })
    sendFromPort0(address, ports.udpPort)
    // It comes after the other one, and so does what comes of it.
    const target = { protocol: 'udp', address, port: ports.udpPort } as const
    expect(await tryPort(target, 10_000)).toMatchObject({ isOpen: true })
  })
})
