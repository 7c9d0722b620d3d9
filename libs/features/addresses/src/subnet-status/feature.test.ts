import type { FamilyStatistics } from '@kube-ovn/ipam'
import { ipResource, subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { ip, subnet } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { concerned } from '@kube-ovn/domains-control/testing/concerned'
import { shownPatches } from '@kube-ovn/domains-control/testing/shown'
import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { desiredStatus, subnetStatus } from './feature.ts'

const v4: FamilyStatistics = {
  available: 3n,
  using: 1n,
  availableRanges: '10.1.0.3-10.1.0.5',
  usingRanges: '10.1.0.2',
}
const none = { v4availableIPs: 0, v4availableIPrange: '', v4usingIPs: 0, v4usingIPrange: '' }

it.each([
  {
    name: 'counts nothing in a family that the subnet does not have',
    statistics: { v4, v6: undefined },
    want: {
      ...{
        v4availableIPs: 3,
        v4availableIPrange: '10.1.0.3-10.1.0.5',
        v4usingIPs: 1,
        v4usingIPrange: '10.1.0.2',
      },
      ...{ v6availableIPs: 0, v6availableIPrange: '', v6usingIPs: 0, v6usingIPrange: '' },
    },
  },
  {
    name: 'counts exactly beyond the range of numbers',
    statistics: {
      v4: undefined,
      v6: { available: 2n ** 64n - 3n, using: 1n, availableRanges: 'a', usingRanges: 'b' },
    },
    want: {
      ...none,
      v6availableIPs: 2n ** 64n - 3n,
      v6availableIPrange: 'a',
      v6usingIPs: 1,
      v6usingIPrange: 'b',
    },
  },
])('$name', ({ statistics, want }) => {
  expect(shownPatches(desiredStatus({ name: 'blue', statistics }))).toEqual([
    { object: 'subnets/blue/status', status: want },
  ])
})

it('looks again at counts that somebody else wrote, and not at those that it wrote itself', () => {
  const before = subnet({ name: 'blue', cidrBlock: '10.1.0.0/29,fd00:1::/64' })
  const world = stillWorld({ subnets: [before] }, {})
  const [own] = desiredStatus({ name: 'blue', statistics: world.ipam.statistics('blue') }).patches
  const written = own?.merge?.['status'] as Subnet['status']
  const after = (now: Subnet) => concerned(subnetStatus, subnetResource, before, now, world)
  expect(after({ ...before, status: { ...written } })).toEqual([])
  for (const wrong of [{ v4usingIPs: 1.5 }, { v6availableIPrange: 'all' }, { v6usingIPs: 1n }])
    expect(after({ ...before, status: { ...written, ...wrong } })).toEqual(['blue'])
  expect(after(before)).toEqual(['blue'])
})

it('looks again where a record comes and where it goes, also when a node takes over that of a pod of the same name', () => {
  const world = stillWorld({}, {})
  const ofPod = ip({ name: 'node-x.y', subnet: 'ovn-default', podName: 'node-x', namespace: 'y' })
  const ofNode = ip({ name: 'node-x.y', subnet: 'join', nodeName: 'x.y' })
  expect(concerned(subnetStatus, ipResource, ofPod, ofNode, world)).toEqual(['ovn-default', 'join'])
  const relabelled = ip({ ...ofNode.spec, name: 'node-x.y', labels: { team: 'red' } })
  expect(concerned(subnetStatus, ipResource, ofNode, relabelled, world)).toEqual([])
})
