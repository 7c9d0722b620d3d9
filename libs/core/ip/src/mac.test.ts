import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatIp,
  formatMac,
  InvalidMacError,
  linkLocalOf,
  macFromName,
  parseMac,
  tryParseMac,
} from './index.ts'

describe('parseMac', () => {
  it.each(['00:00:5e:00:53:01', '00:00:5E:00:53:01', '00-00-5e-00-53-01', '0000.5e00.5301'])(
    'reads %s',
    (text) => {
      expect(parseMac(text)).toBe('00:00:5e:00:53:01')
    },
  )

  it.each([
    '',
    '00:00:5e:00:53',
    '00:00:5e:00:53:01:02:03',
    '00:00-5e:00:53:01',
    '00005e005301',
    '0:0:5e:0:53:1',
    '0000.5e00.53g1',
  ])('refuses %j', (text) => {
    expect(tryParseMac(text)).toBeUndefined()
    expect(() => parseMac(text, 'mac_address')).toThrow(InvalidMacError)
  })

  it('is the inverse of formatMac', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (bytes) => {
        const mac = formatMac(bytes)
        expect(parseMac(mac)).toBe(mac)
        expect(mac.split(':').map((pair) => Number.parseInt(pair, 16))).toEqual([...bytes])
      }),
    )
    expect(() => formatMac(new Uint8Array(5))).toThrow(RangeError)
  })
})

it('makes the same address of a name again, and another one of another name', () => {
  expect(macFromName('blue/4')).toBe(macFromName('blue/4'))
  const made = Array.from({ length: 1000 }, (_, index) => macFromName(`blue-${index}`))
  expect(new Set(made).size).toBe(1000)
  // Locally administered, of one host (IEEE 802).
  expect(made.filter((mac) => !/^.[26ae]/.test(mac))).toEqual([])
})

it('gives the link-local address of RFC 4291', () => {
  expect(formatIp(linkLocalOf(parseMac('34:56:78:9a:bc:de')))).toBe('fe80::3656:78ff:fe9a:bcde')
})
