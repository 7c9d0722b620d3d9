import { subnet } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { readSubnets } from './subnets.ts'

it('counts the family that has less to give, of subnets that have prefixes', () => {
  const blue = subnet({ name: 'blue', cidrBlock: '10.1.0.0/29,fd00:1::/64' })
  const counts = { v4availableIPs: 5, v4usingIPs: 1, v6availableIPs: 3, v6usingIPs: 9 }
  const red = subnet({ name: 'red', cidrBlock: 'fd00:2::/64' })
  const read = [
    ...readSubnets([
      { ...blue, status: counts },
      { ...red, status: { v6availableIPs: 2n ** 64n - 2n, v6usingIPs: 1 } },
      subnet({ name: 'none', cidrBlock: '' }),
    ]),
  ]
  expect(read).toEqual([
    { name: 'blue', protocol: 'Dual', cidr: '10.1.0.0/29,fd00:1::/64', available: 3, used: 9 },
    { name: 'red', protocol: 'IPv6', cidr: 'fd00:2::/64', available: 2 ** 64, used: 1 },
  ])
})
