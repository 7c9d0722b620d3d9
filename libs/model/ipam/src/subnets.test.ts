import { formatIp, parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { CidrInvalidError, Ipam } from './index.ts'
import { ask, countingRandom, free, ipamWith, setSubnet, text } from './testing/asking.ts'

describe('Ipam.setSubnet', () => {
  it('offers all but the ends, the gateway and the excluded addresses', () => {
    const ipam = ipamWith('10.16.10.0/28,fd00::/124', '10.16.10.1,fd00::1', [
      '10.16.10.10',
      'fd00::3..fd00::5',
    ])
    expect(ipam.statistics('s')).toEqual({
      v4: {
        available: 12n,
        using: 0n,
        availableRanges: '10.16.10.2-10.16.10.9,10.16.10.11-10.16.10.14',
        usingRanges: '',
      },
      v6: { available: 10n, using: 0n, availableRanges: 'fd00::2,fd00::6-fd00::e', usingRanges: '' },
    })
  })

  it('counts an excluded address as in use only after it is no longer excluded', () => {
    const ipam = ipamWith('10.16.10.0/28', '10.16.10.1', ['10.16.10.10'])
    ask(ipam, 'a', { static: parseIpList('10.16.10.10') })
    expect(ipam.statistics('s').v4).toMatchObject({ using: 0n, usingRanges: '' })
    setSubnet(ipam, '10.16.10.0/28', '10.16.10.1')
    expect(ipam.statistics('s').v4).toMatchObject({ using: 1n, usingRanges: '10.16.10.10', available: 12n })
  })

  it('tells of exclusions that are blocks, or of a family that it does not have', () => {
    const useless = ['10.0.0.0/30', 'fd00::1']
    const change = setSubnet(new Ipam(countingRandom()), '10.0.0.0/28', '10.0.0.1', useless)
    expect(new Set(change.ignoredExcludeIps.map(({ details }) => details.value))).toEqual(new Set(useless))
  })

  it('refuses a dual-stack subnet with one gateway and to take all addresses away', () => {
    const ipam = ipamWith('10.0.0.0/28', '')
    expect(() => setSubnet(ipam, '10.0.0.0/28,fd00::/64', '10.0.0.1')).toThrow(CidrInvalidError)
    expect(() => setSubnet(ipam, '', '')).toThrow(CidrInvalidError)
    expect(() =>
      ipam.setSubnet({ name: 's', cidrs: {}, gateways: { v4: parseIp('::1') }, excludeIps: [] }),
    ).toThrow(CidrInvalidError)
    expect(ask(ipam, 'a')).toBe('10.0.0.1')
  })

  it('keeps released addresses behind when nothing changes, and frees them when something does', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    free(ipam, 'a')
    setSubnet(ipam, '10.0.0.7/28', '10.0.0.1', ['10.0.0.1'])
    expect(ask(ipam.fork(), 'b')).toBe('10.0.0.3')
    setSubnet(ipam, '10.0.0.0/28', '10.0.0.1', ['10.0.0.14'])
    expect(ask(ipam, 'b')).toBe('10.0.0.2')
  })

  it('drops leases outside of a new CIDR and tells who lost them', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    ask(ipam, 'a')
    ask(ipam, 'b', { family: 4 })
    const change = setSubnet(ipam, '10.1.0.0/28,fd00::/124', '10.1.0.1,fd00::1')
    expect(change.lost.map(text)).toEqual(expect.arrayContaining(['10.0.0.2,fd00::2', '10.0.0.3']))
    expect(ipam.lease('b')).toBeUndefined()
    expect(ipam.leasesOf('pod/ns/b')).toEqual([])
    expect(ask(ipam, 'a')).toBe('10.1.0.2,fd00::2')
  })

  it('gains and loses a family', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    setSubnet(ipam, '10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    expect(ask(ipam, 'a')).toBe('10.0.0.2,fd00::2')
    setSubnet(ipam, 'fd00::/124', 'fd00::1')
    expect(text(ipam.lease('a') ?? expect.unreachable())).toBe('fd00::2')
    expect(ipam.statistics('s').v4).toBeUndefined()
  })
})

describe('Ipam with many addresses', () => {
  it('serves a /8 and a /64 at once, and a fork of them leaves the original as it is', () => {
    const ipam = ipamWith('10.0.0.0/8,fd00::/64', '10.0.0.1,fd00::1')
    const count = 50_000
    for (let index = 0; index < count; index++) {
      ipam.allocate({ subnet: 's', nic: `pod-${index}.shop`, owner: `pod/shop/pod-${index}`, mac: false })
    }
    for (let index = 0; index < count; index += 2) ipam.release(`pod-${index}.shop`, `pod/shop/pod-${index}`)
    const fork = ipam.fork()
    fork.allocate({ subnet: 's', nic: 'probe', owner: 'pod/probe' })
    expect(formatIp(fork.lease('probe')?.v4 ?? expect.unreachable())).toBe('10.0.195.82')
    expect(ipam.lease('probe')).toBeUndefined()
    expect(ipam.statistics('s').v4?.using).toBe(BigInt(count / 2))
  })
})
