import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeSocketAddress, encodeSocketAddress } from './socket-address.ts'

describe('socket addresses', () => {
  it('writes IPv4 as struct sockaddr_in: family in host order, port and address in network order', () => {
    expect(encodeSocketAddress({ address: '10.16.0.5', port: 8080 }).toString('hex')).toBe(
      '02001f900a1000050000000000000000',
    )
  })

  it('writes IPv6 as struct sockaddr_in6: flow before the address, scope after it', () => {
    expect(encodeSocketAddress({ address: 'fd00:10:16::5', port: 53 }).toString('hex')).toBe(
      '0a00003500000000' + 'fd000010001600000000000000000005' + '00000000',
    )
  })

  it('reads what it wrote', () => {
    const address = fc.oneof(fc.ipV4(), fc.constantFrom('::1', 'fd00::a', '2001:db8:1:2:3:4:5:6'))
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 65_535 }), (address, port) => {
        expect(decodeSocketAddress(encodeSocketAddress({ address, port }))).toEqual({ address, port })
      }),
    )
  })
})
