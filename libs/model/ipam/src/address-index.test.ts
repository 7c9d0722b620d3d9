import { formatIp, parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { ask, free, ipamWith, setSubnet } from './testing/asking.ts'

describe.each(['fd00::9', 'fd00::9:0:0:9'])('%s, which several have', (address) => {
  const ip = parseIp(address)
  const wish = { static: parseIpList(address), shareOnConflict: true }

  it('is held until the last of them releases it, in any order, and by forks on their own', () => {
    for (const order of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
      const ipam = ipamWith('fd00::/64', 'fd00::1')
      for (const nic of 'abc') expect(ask(ipam, nic, wish)).toBe(formatIp(ip))
      const fork = ipam.fork()
      const [first = '', second = '', last = ''] = order
      free(ipam, first)
      expect(new Set(ipam.holders('s', ip))).toEqual(new Set([`pod/ns/${second}`, `pod/ns/${last}`]))
      free(ipam, second)
      expect(ipam.holders('s', ip)).toEqual([`pod/ns/${last}`])
      expect(ipam.verify()).toEqual([])
      free(ipam, last)
      expect([ipam.stateOf('s', ip), fork.holders('s', ip).length]).toEqual(['free', 3])
      expect([...ipam.verify(), ...fork.verify()]).toEqual([])
    }
  })

  it('stays where it is when the subnet grows and shrinks', () => {
    const ipam = ipamWith('fd00::/64', 'fd00::1')
    for (const nic of 'abc') ask(ipam, nic, wish)
    for (const [cidr, gateway] of [['fc00::/7', 'fc00::1'] as const, ['fd00::/64', 'fd00::1'] as const]) {
      expect(setSubnet(ipam, cidr, gateway).lost).toEqual([])
      expect(ipam.holders('s', ip)).toHaveLength(3)
      expect(ipam.verify()).toEqual([])
    }
  })
})
