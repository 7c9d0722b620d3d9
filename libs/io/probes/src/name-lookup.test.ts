import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { candidatesOf, lookUp, parseResolverConfiguration } from './name-lookup.ts'

const text = `# of the kubelet
nameserver 10.96.0.10
nameserver fd00:10:96::a
search kube-system.svc.cluster.local svc.cluster.local cluster.local
options ndots:5 timeout:1
`
const open: Socket[] = []
afterEach(() => open.splice(0).forEach((socket) => socket.close()))

it('reads the configuration that the kubelet writes', () => {
  expect(parseResolverConfiguration(text)).toEqual({
    servers: ['10.96.0.10', 'fd00:10:96::a'],
    search: ['kube-system.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    dots: 5,
  })
})

it('tries names in the order of resolv.conf(5)', () => {
  const configuration = { servers: [], search: ['a.b', 'b'], dots: 1 }
  expect(candidatesOf('web', configuration)).toEqual(['web.a.b', 'web.b', 'web'])
  expect(candidatesOf('web.shop', configuration)).toEqual(['web.shop', 'web.shop.a.b', 'web.shop.b'])
  expect(candidatesOf('web.', configuration)).toEqual(['web'])
})

it('finds a name below a search domain, and says of one that nobody has that it is not found', async () => {
  const server = await startServer((name) => name === 'web.shop.local')
  const options = { configuration: { servers: [server], search: ['shop.local'], dots: 5 }, timeoutMs: 10_000 }
  expect(await lookUp('web', { ...options, families: ['ipv4'] })).toMatchObject({
    isFound: true,
    addresses: ['10.96.0.1'],
  })
  expect(await lookUp('web', { ...options, families: ['ipv4', 'ipv6'] })).toMatchObject({ isFound: true })
  expect(await lookUp('mail', { ...options, families: ['ipv4'] })).toEqual({
    isFound: false,
    error: 'ENOTFOUND',
  })
})

it('gives up a server that does not answer, and one that is none', async () => {
  const server = await startServer(() => undefined)
  const configuration = { servers: [server], search: ['a', 'b', 'c'], dots: 5 }
  expect(await lookUp('web', { configuration, families: ['ipv4'], timeoutMs: 200 })).toEqual({
    isFound: false,
    error: 'ETIMEOUT',
  })
  const none = { servers: [], search: [], dots: 1 }
  expect(await lookUp('web', { configuration: none, families: ['ipv4'], timeoutMs: 200 })).toEqual({
    isFound: false,
    error: 'ENOSERVERS',
  })
})

/** A server that has an address for some names, says of others that there is no such name, and to `undefined` nothing. */
async function startServer(has: (name: string) => boolean | undefined): Promise<string> {
  const socket = createSocket('udp4')
  open.push(socket)
  socket.on('message', (question, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const isKnown = has(labels.join('.').toLowerCase())
    if (isKnown === undefined) return
    const isIpv4 = question.readUInt16BE(at + 1) === 1
    const end = at + 5
    const answer = Buffer.from(isKnown && isIpv4 ? 'c00c000100010000001e00040a600001' : '', 'hex')
    const reply = Buffer.concat([question.subarray(0, end), answer])
    reply.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
    reply.writeUInt16BE(answer.length > 0 ? 1 : 0, 6)
    reply.fill(0, 8, 12)
    socket.send(reply, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}
