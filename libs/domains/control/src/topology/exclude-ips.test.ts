import { parseCidrList, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { normaliseExcludeIps, strayExcludes } from './exclude-ips.ts'

const gateways = parseIpList('10.1.0.1,fd00::1')

describe('normaliseExcludeIps', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['adds the gateways', [], ['10.1.0.1', 'fd00::1']],
    ['leaves out a gateway that is covered', ['10.1.0.1..10.1.0.9'], ['10.1.0.1..10.1.0.9', 'fd00::1']],
    [
      'merges what overlaps, three in a row too',
      ['10.1.0.5..10.1.0.8', '10.1.0.7..10.1.0.12', '10.1.0.12..10.1.0.20'],
      ['10.1.0.1', '10.1.0.5..10.1.0.20', 'fd00::1'],
    ],
    [
      'swallows what lies inside',
      ['10.1.0.5..10.1.0.20', '10.1.0.7'],
      ['10.1.0.1', '10.1.0.5..10.1.0.20', 'fd00::1'],
    ],
    [
      'keeps neighbours apart',
      ['10.1.0.2', '10.1.0.3..10.1.0.4'],
      ['10.1.0.1', '10.1.0.2', '10.1.0.3..10.1.0.4', 'fd00::1'],
    ],
    ['sorts as text', ['10.1.0.20', '10.1.0.3'], ['10.1.0.1', '10.1.0.20', '10.1.0.3', 'fd00::1']],
    [
      'keeps what is outside of the subnet',
      ['192.0.2.1', 'FD00::00a0'],
      ['10.1.0.1', '192.0.2.1', 'fd00::1', 'fd00::a0'],
    ],
  ])('%s', (_name, given, want) => {
    expect(normaliseExcludeIps(given, gateways)).toEqual(want)
    expect(normaliseExcludeIps(want, gateways)).toEqual(want)
  })

  it.each(['10.1.0.0/24', 'a', '10.1.0.5..10.1.0.3', '10.1.0.5..fd00::1', ''])('refuses %j', (entry) => {
    expect(() => normaliseExcludeIps([entry], gateways)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ field: 'spec.excludeIps', value: entry }),
      }),
    )
  })
})

it('finds entries that exclude nothing', () => {
  const excludeIps = [
    '10.1.0.5',
    '10.2.0.5',
    '10.0.255.0..10.1.0.9',
    '10.1.1.0..10.1.1.9',
    'fd00::5',
    'fd01::5',
  ]
  expect(strayExcludes({ cidrs: parseCidrList('10.1.0.0/24'), excludeIps })).toEqual([
    '10.2.0.5',
    '10.1.1.0..10.1.1.9',
    'fd00::5',
    'fd01::5',
  ])
  expect(strayExcludes({ cidrs: parseCidrList('10.0.0.0/8,fd00::/64'), excludeIps })).toEqual(['fd01::5'])
})
