import { parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { ask, free, ipamWith, text } from './testing/asking.ts'

describe('Ipam.allocate, static', () => {
  it('names the holder and the cure in a conflict', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.2') })).toThrow(
      expect.objectContaining({
        message: 'AddressConflict: the address is held by another owner',
        retry: 'on-change',
        details: {
          subnet: 's',
          conflict: 'held',
          address: '10.0.0.2',
          holders: ['pod/ns/a'],
          cure: expect.stringContaining('another address'),
        },
      }),
    )
  })

  it('keeps an address that two NICs of one owner have until both are gone', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const mine = { owner: 'pod/o' as const, static: parseIpList('10.0.0.5') }
    ask(ipam, 'a', mine)
    ask(ipam, 'b', mine)
    free(ipam, 'a', 'pod/o')
    expect(ipam.holders('s', parseIp('10.0.0.5'))).toEqual(['pod/o'])
    expect(ipam.releaseOwner('pod/o').map(text)).toEqual(['10.0.0.5'])
    expect(ipam.holders('s', parseIp('10.0.0.5'))).toEqual([])
  })
})
