import { parseIpList, parseMac, type Mac } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { InvalidIpFamilyError, Ipam, MacConflictError } from './index.ts'
import { ask, free, ipamWith, setSubnet } from './testing/asking.ts'

describe('Ipam.allocate, MAC addresses', () => {
  it('makes up locally administered unicast addresses that differ', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ipam.setGatewayMac('s', '02:00:00:00:00:01')
    const macs = ['a', 'b'].map((nic) => ipam.allocate({ subnet: 's', nic, owner: `pod/ns/${nic}` }).mac)
    expect(macs).toEqual(['02:00:00:00:00:02', '02:00:00:00:00:03'])
  })

  it('gives up when randomness is not random', () => {
    const ipam = new Ipam((bytes) => new Uint8Array(bytes))
    setSubnet(ipam, '10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'b')).toThrow(MacConflictError)
  })

  it('compares addresses, not their text, and changes nothing on a conflict', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    ipam.setGatewayMac('s', '00-00-5E-00-53-FE')
    const lease = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a', mac: 'AA:BB:CC:00:00:01' })
    expect(lease.mac).toBe('aa:bb:cc:00:00:01')
    const statistics = ipam.statistics('s')
    for (const mac of ['aabb.cc00.0001', '00:00:5e:00:53:fe']) {
      expect(() => ask(ipam, 'b', { mac })).toThrow(MacConflictError)
      expect(() => ask(ipam, 'b', { mac, family: 6 })).toThrow(MacConflictError)
    }
    expect(ipam.statistics('s')).toEqual(statistics)
    expect(ask(ipam, 'b', { mac: '00:00:5e:00:53:02' })).toBe('10.0.0.3,fd00::3')
    expect(ask(ipam, 'c', { mac: 'aa:bb:cc:00:00:01', shareOnConflict: true })).toBe('10.0.0.4,fd00::4')
  })

  it('frees an address that was exchanged or released', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a', { mac: '00:00:5e:00:53:01' })
    ask(ipam, 'a', { mac: '00:00:5e:00:53:02' })
    ask(ipam, 'b', { mac: '00:00:5e:00:53:01' })
    free(ipam, 'b')
    ask(ipam, 'c', { mac: '00:00:5e:00:53:01' })
    expect(ipam.lease('a')?.mac).toBe('00:00:5e:00:53:02')
  })

  it.each<[name: string, change: (ipam: Ipam) => void, free: readonly string[]]>([
    ['of a NIC, and one of the router port', () => undefined, ['00:00:5e:00:53:04']],
    ['of a NIC that is released', (ipam) => free(ipam, 'a'), ['00:00:5e:00:53:01', '00:00:5e:00:53:04']],
    [
      'of a NIC that has another one by now',
      (ipam) => ask(ipam, 'a', { mac: '00:00:5e:00:53:04' }),
      ['00:00:5e:00:53:01'],
    ],
    ['of two NICs, of which one is released', (ipam) => free(ipam, 'b'), ['00:00:5e:00:53:04']],
    [
      'of a router port that has another one by now',
      (ipam) => expect(ipam.setGatewayMac('s', '00:00:5e:00:53:04')).toBe('00:00:5e:00:53:03'),
      ['00:00:5e:00:53:03'],
    ],
    [
      'of a router port that is gone',
      (ipam) => expect(ipam.setGatewayMac('s', undefined)).toBe('00:00:5e:00:53:03'),
      ['00:00:5e:00:53:03', '00:00:5e:00:53:04'],
    ],
  ])('tells who has an address beside one %s', (_, change, expected) => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    expect(ipam.setGatewayMac('s', '00:00:5e:00:53:03')).toBeUndefined()
    ask(ipam, 'a', { mac: '00:00:5e:00:53:01' })
    ask(ipam, 'b', { mac: '00:00:5e:00:53:02' })
    ask(ipam, 'c', { mac: '00:00:5e:00:53:02', shareOnConflict: true })
    change(ipam)
    const all = [1, 2, 3, 4].map((last) => parseMac(`00:00:5e:00:53:0${last}`))
    const isFree = (mac: Mac) => mac !== ipam.gatewayMac('s') && ipam.macHolders('s', mac).length === 0
    expect(all.filter(isFree)).toEqual(expected)
    // What is free is given.
    for (const mac of all)
      if (isFree(mac)) expect(ipam.plan({ subnet: 's', nic: 'd', owner: 'pod/ns/d', mac }).mac).toBe(mac)
      else expect(() => ask(ipam, 'd', { mac })).toThrow(MacConflictError)
  })

  it('keeps the address of its own NIC although the router port has it by now', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a', { mac: '00:00:5e:00:53:01' })
    ipam.setGatewayMac('s', '00:00:5e:00:53:01')
    expect(ask(ipam, 'a', { mac: '00:00:5e:00:53:01' })).toBe('10.0.0.2')
  })

  it('gives none when none is wanted', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a', { mac: false })
    expect(ipam.lease('a')?.mac).toBeUndefined()
  })

  it('hands out nothing else in a subnet without CIDR', () => {
    const ipam = ipamWith('', '')
    expect(setSubnet(ipam, '', '')).toEqual({ lost: [], ignoredExcludeIps: [] })
    const lease = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a', family: 4 })
    expect(lease).toMatchObject({ v4: undefined, v6: undefined, mac: '02:00:00:00:00:01' })
    expect(ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' })).toEqual(lease)
    expect(() => ask(ipam, 'b', { mac: '02:00:00:00:00:01' })).toThrow(MacConflictError)
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.1') })).toThrow(InvalidIpFamilyError)
    free(ipam, 'a')
    expect(ask(ipam, 'b', { mac: '02:00:00:00:00:01' })).toBe('')
  })
})
