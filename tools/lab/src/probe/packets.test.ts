import { describe, expect, it } from 'vitest'
import { decodeDnsAnswer, encodeDnsQuestion } from './dns-message.ts'
import { decodeEchoReply, encodeEchoRequest, internetChecksum } from './echo-packet.ts'

describe('echo', () => {
  it('has the checksum of RFC 1071: over the packet with it, the sum is 0', () => {
    const request = encodeEchoRequest('ipv4', { identifier: 0x1234, sequence: 7 })
    expect(internetChecksum(request)).toBe(0)
    expect(internetChecksum(Buffer.from('0001f203f4f5f6f7', 'hex'))).toBe(0x220d)
  })

  it('reads a reply behind the IPv4 header, and directly for IPv6', () => {
    const header = Buffer.alloc(24)
    header[0] = 0x46
    const reply = Buffer.from('000000001234000700000000', 'hex')
    expect(decodeEchoReply('ipv4', Buffer.concat([header, reply]))).toEqual({
      identifier: 0x1234,
      sequence: 7,
    })
    reply[0] = 129
    expect(decodeEchoReply('ipv6', reply)).toEqual({ identifier: 0x1234, sequence: 7 })
  })

  it('passes over requests, errors and fragments', () => {
    expect(decodeEchoReply('ipv6', encodeEchoRequest('ipv6', { identifier: 1, sequence: 1 }))).toBeUndefined()
    expect(decodeEchoReply('ipv4', Buffer.from('45', 'hex'))).toBeUndefined()
  })
})

describe('DNS', () => {
  it('asks for a name', () => {
    expect(encodeDnsQuestion(0x0102, 'web.shop.', 'AAAA').toString('latin1')).toBe(
      '\x01\x02\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00' + '\x03web\x04shop\x00' + '\x00\x1c\x00\x01',
    )
  })

  it('reads the addresses of an answer, whose names point back', () => {
    const question = encodeDnsQuestion(5, 'web.shop', 'A')
    const answer = Buffer.from('c00c00010001000000050004' + '0a600001', 'hex')
    const message = Buffer.concat([question, answer])
    message.writeUInt16BE(0x8180, 2)
    message.writeUInt16BE(1, 6)
    expect(decodeDnsAnswer(message)).toEqual({ id: 5, code: 0, addresses: ['10.96.0.1'] })
  })

  it('tells a name that does not exist from no response', () => {
    const message = encodeDnsQuestion(5, 'nobody', 'A')
    expect(decodeDnsAnswer(message)).toBeUndefined()
    message.writeUInt16BE(0x8183, 2)
    expect(decodeDnsAnswer(message)).toEqual({ id: 5, code: 3, addresses: [] })
  })
})
