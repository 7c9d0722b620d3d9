import { describe, expect, it } from 'vitest'
import { resolveAdvertising } from './advertising.ts'

describe('resolveAdvertising', () => {
  it.each([
    [{}, undefined],
    [{ ipv6RAConfigs: 'garbage' }, undefined],
    [
      { enableIPv6RA: true },
      { address_mode: 'dhcpv6_stateful', max_interval: '30', min_interval: '5', send_periodic: 'true' },
    ],
    [
      { enableIPv6RA: true, ipv6RAConfigs: ' address_mode = slaac,, newer=1 ' },
      { address_mode: 'slaac', newer: '1' },
    ],
  ])('of %j', (spec, want) => {
    expect(resolveAdvertising('blue', spec)).toEqual(want)
  })

  it.each([
    'a',
    'a=',
    '=b',
    'a=b=c',
    'a=1,a=2',
    'A=1',
    'mtu=1279',
    'mtu=x',
    'min_interval=2',
    'router_preference=low',
  ])('refuses %s', (ipv6RAConfigs) => {
    expect(() => resolveAdvertising('blue', { enableIPv6RA: true, ipv6RAConfigs })).toThrow(
      'subnet is invalid',
    )
  })
})
