import { ipPoolResource, ipResource, type IpPool } from '@kube-ovn/kube-api'
import { ip, ipPool, subnet } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { concerned } from '@kube-ovn/domains-control/testing/concerned'
import { shownPatches } from '@kube-ovn/domains-control/testing/shown'
import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { desiredStatus, ipPoolStatus } from './feature.ts'

it('publishes the counts of both families under the names of the kind', () => {
  const v4 = { available: 3n, using: 1n, availableRanges: '10.1.0.2-10.1.0.4', usingRanges: '10.1.0.1' }
  expect(shownPatches(desiredStatus({ name: 'blue', statistics: { v4, v6: undefined } }))).toEqual([
    {
      object: 'ippools/blue/status',
      status: {
        v4AvailableIPs: 3,
        v4AvailableIPRange: '10.1.0.2-10.1.0.4',
        v4UsingIPs: 1,
        v4UsingIPRange: '10.1.0.1',
        v6AvailableIPs: 0,
        v6AvailableIPRange: '',
        v6UsingIPs: 0,
        v6UsingIPRange: '',
      },
    },
  ])
})

it('looks again at counts that somebody else wrote, and not at those that it wrote itself', () => {
  const before = ipPool({ name: 'some', subnet: 'blue', ips: ['10.1.0.2..10.1.0.5'] })
  const subnets = [subnet({ name: 'blue', cidrBlock: '10.1.0.0/29' })]
  const world = stillWorld({ subnets, ipPools: [before] }, {})
  const statistics = world.ipam.poolStatistics('blue', 'some')
  const [own] = desiredStatus({ name: 'some', statistics }).patches
  const written = own?.merge?.['status'] as IpPool['status']
  const after = (now: IpPool) => concerned(ipPoolStatus, ipPoolResource, before, now, world)
  expect(after({ ...before, status: { ...written } })).toEqual([])
  expect(after({ ...before, status: { ...written, v4UsingIPs: 1 } })).toEqual(['some'])
  expect(after(ipPool({ name: 'some', subnet: 'blue', ips: [] }))).toEqual(['some'])
})

it('looks again at the pools of a subnet from which a record goes to another NIC of its name', () => {
  const pools = [ipPool({ name: 'some', subnet: 'blue', ips: ['10.1.0.2..10.1.0.5'] })]
  const world = stillWorld(
    { subnets: [subnet({ name: 'blue', cidrBlock: '10.1.0.0/29' })], ipPools: pools },
    {},
  )
  const before = ip({ name: 'node-x.y', subnet: 'blue' })
  const after = ip({ name: 'node-x.y', subnet: 'join' })
  expect(concerned(ipPoolStatus, ipResource, before, after, world)).toEqual(['some'])
  expect(concerned(ipPoolStatus, ipResource, before, before, world)).toEqual([])
})
