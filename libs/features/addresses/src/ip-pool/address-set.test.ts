import { KubeOvnError } from '@kube-ovn/errors'
import { describe, expect, it } from 'vitest'
import { addressSetOf, checkAddressSetName } from './address-set.ts'

describe('addressSetOf', () => {
  it.each([
    { name: 'a single address', ips: ['10.1.0.5'], want: ['10.1.0.5'] },
    { name: 'a host prefix', ips: ['10.1.0.5/32'], want: ['10.1.0.5'] },
    { name: 'an IPv6 host prefix', ips: ['fd00::5/128'], want: ['fd00::5'] },
    { name: 'a prefix with host bits', ips: ['10.1.0.5/28'], want: ['10.1.0.0/28'] },
    { name: 'an aligned range', ips: ['10.1.0.0..10.1.0.15'], want: ['10.1.0.0/28'] },
    {
      name: 'an unaligned range',
      ips: ['10.1.0.1..10.1.0.6'],
      want: ['10.1.0.1', '10.1.0.2/31', '10.1.0.4/31', '10.1.0.6'],
    },
    { name: 'an IPv6 range', ips: ['fd00::1000..fd00::100f'], want: ['fd00::1000/124'] },
    { name: 'the same twice', ips: ['10.1.0.5', '10.1.0.5..10.1.0.5'], want: ['10.1.0.5'] },
    { name: 'neighbours, which stay apart', ips: ['10.1.0.4', '10.1.0.5'], want: ['10.1.0.4', '10.1.0.5'] },
    { name: 'the whole of IPv4', ips: ['0.0.0.0/0'], want: ['0.0.0.0/0'] },
    { name: 'nothing', ips: [], want: [] },
  ])('holds $name', ({ ips, want }) => {
    expect([...addressSetOf('pool', ips)].sort()).toEqual(want)
  })

  it.each([
    { name: 'both families', ips: ['10.1.0.5', 'fd00::5'], code: 'ip-pool-address-set-invalid' },
    { name: 'a reversed range', ips: ['10.1.0.9..10.1.0.5'], code: 'invalid-ip-range' },
    { name: 'what is no address', ips: ['10.1.0.256'], code: 'invalid-ip' },
    { name: 'what is no prefix', ips: ['10.1.0.0/33'], code: 'invalid-cidr' },
  ])('refuses $name, and says what would be right', ({ ips, code }) => {
    const refused = refusalOf(() => addressSetOf('pool', ips))
    expect(refused).toMatchObject({ code, details: { field: 'spec.ips', cure: expect.any(String) } })
  })
})

it.each([
  { pool: 'blue', isUsable: true },
  { pool: 'blue-1.a', isUsable: true },
  { pool: '1-blue', isUsable: false },
])('takes $pool as the name of a set: $isUsable', ({ pool, isUsable }) => {
  expect(refusalOf(() => checkAddressSetName(pool)) === undefined).toBe(isUsable)
})

function refusalOf(act: () => unknown): KubeOvnError | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof KubeOvnError) return error
    throw error
  }
}
