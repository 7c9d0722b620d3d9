import { formatIp, formatIpList, parseCidrList, parseIp, parseIpList, type Ip } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import {
  AddressConflictError,
  AddressOutOfRangeError,
  CidrInvalidError,
  InvalidIpFamilyError,
  Ipam,
  MacConflictError,
  NicConflictError,
  NoAvailableAddressError,
  NoSubnetError,
  PoolConflictError,
  type AllocateRequest,
  type Lease,
  type Owner,
} from './index.ts'

/** Counts up, so that every MAC address of a test is known. */
function countingRandom(): (bytes: number) => Uint8Array {
  let count = 0
  return (bytes) => Uint8Array.from({ length: bytes }, (_, index) => (index % 6 === 5 ? ++count : 0))
}

function ipamWith(cidr: string, gateway: string, excludeIps: readonly string[] = []): Ipam {
  const ipam = new Ipam(countingRandom())
  setSubnet(ipam, cidr, gateway, excludeIps)
  return ipam
}

function setSubnet(
  ipam: Ipam,
  cidr: string,
  gateway: string,
  excludeIps: readonly string[] = [],
  name = 's',
) {
  const cidrs = cidr === '' ? {} : parseCidrList(cidr)
  const gateways = gateway === '' ? {} : parseIpList(gateway)
  return ipam.setSubnet({ name, cidrs, gateways, excludeIps })
}

/** Asks for a NIC whose owner has no other. */
function ask(ipam: Ipam, nic: string, wishes: Partial<AllocateRequest> = {}): string {
  return text(ipam.allocate({ subnet: 's', nic, owner: `pod/ns/${nic}`, ...wishes }))
}

function free(ipam: Ipam, nic: string, owner: Owner = `pod/ns/${nic}`): Lease | undefined {
  return ipam.release(nic, owner)
}

function text(lease: Lease): string {
  return formatIpList({ v4: lease.v4, v6: lease.v6 })
}

function ips(...texts: readonly string[]): ReadonlySet<Ip> {
  return new Set(texts.map((text) => parseIp(text)))
}

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

  it('merges and clips exclusions and tells which have no effect', () => {
    const ipam = new Ipam(countingRandom())
    const odd = ['10.0.0.2..10.0.0.4', '10.0.0.3..10.0.0.9', '10.0.0.0', '10.0.0.14..10.0.0.99']
    const useless = ['nonsense', '10.0.0.9..10.0.0.2', '10.0.0.0/30', '10.1.0.0..10.1.0.9', 'fd00::1']
    const change = setSubnet(ipam, '10.0.0.0/28', '10.0.0.1', [...odd, ...useless])
    expect(ipam.statistics('s').v4?.availableRanges).toBe('10.0.0.10-10.0.0.13')
    expect(new Set(change.ignoredExcludeIps.map(({ details }) => details.value))).toEqual(new Set(useless))
  })

  it('takes the ends of point-to-point prefixes', () => {
    const ipam = ipamWith('10.0.0.0/31', '10.0.0.0')
    expect(ask(ipam, 'a')).toBe('10.0.0.1')
    expect(() => ask(ipam, 'b')).toThrow(NoAvailableAddressError)
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

  it('does not offer a released address that was excluded since', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    ask(ipam, 'a')
    setSubnet(ipam, '10.0.0.0/29', '10.0.0.1', ['10.0.0.2'])
    free(ipam, 'a')
    expect(['b', 'c', 'd', 'e'].map((nic) => ask(ipam, nic))).toEqual([
      '10.0.0.3',
      '10.0.0.4',
      '10.0.0.5',
      '10.0.0.6',
    ])
    expect(() => ask(ipam, 'f')).toThrow(NoAvailableAddressError)
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

  it('forgets a removed subnet', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    ipam.removeSubnet('s')
    ipam.removeSubnet('s')
    expect(ipam.hasSubnet('s')).toBe(false)
    expect(ipam.lease('a')).toBeUndefined()
    expect([...ipam.leases('s')]).toEqual([])
    expect(ipam.statistics('s')).toEqual({ v4: undefined, v6: undefined })
    expect(() => ask(ipam, 'a')).toThrow(NoSubnetError)
  })
})

describe('Ipam.allocate, drawing', () => {
  it('takes the lowest address and comes back to released ones last', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    expect(['a', 'b', 'c'].map((nic) => ask(ipam, nic))).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4'])
    free(ipam, 'b')
    free(ipam, 'a')
    expect(['d', 'e', 'f', 'g'].map((nic) => ask(ipam, nic))).toEqual([
      '10.0.0.5',
      '10.0.0.6',
      '10.0.0.2',
      '10.0.0.3',
    ])
    expect(() => ask(ipam, 'h')).toThrow(NoAvailableAddressError)
  })

  it('keeps taking turns after all addresses have been used once', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1', ['10.0.0.5..10.0.0.6'])
    const turns = Array.from({ length: 7 }, () => {
      const address = ask(ipam, 'a')
      free(ipam, 'a')
      return address
    })
    expect(turns.map((address) => Number(address.slice(-1)))).toEqual([2, 3, 4, 2, 3, 4, 2])
  })

  it('answers the same for the same NIC', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const request = { subnet: 's', nic: 'a', owner: 'pod/ns/a' } as const
    expect(ipam.allocate(request)).toBe(ipam.allocate(request))
    expect(ipam.statistics('s').v4?.using).toBe(1n)
  })

  it('never draws what is to be skipped, and exchanges what is held', () => {
    const ipam = ipamWith('10.0.0.0/29,fd00::/125', '10.0.0.1,fd00::1')
    const before = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o' })
    const after = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o', skip: ips('10.0.0.2', '10.0.0.3') })
    expect(text(after)).toBe('10.0.0.4,fd00::2')
    expect(after.mac).toBe(before.mac)
    const all = ips('10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6')
    expect(() => ask(ipam, 'b', { skip: all })).toThrow(AddressConflictError)
  })

  it('falls back to released addresses when all free ones are to be skipped', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    ask(ipam, 'a')
    free(ipam, 'a')
    const lower = ips('10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6')
    expect(ask(ipam, 'b', { skip: lower })).toBe('10.0.0.2')
    expect(ask(ipam, 'c')).toBe('10.0.0.3')
  })

  it('takes only the family asked for', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    expect(ask(ipam, 'a', { family: 6 })).toBe('fd00::2')
    expect(ask(ipam, 'b')).toBe('10.0.0.2,fd00::3')
    expect(ask(ipam, 'a', { family: 6 })).toBe('fd00::2')
    setSubnet(ipam, '10.9.0.0/28', '10.9.0.1', [], 'single')
    expect(() => ask(ipam, 'c', { subnet: 'single', family: 6 })).toThrow(InvalidIpFamilyError)
  })

  it('takes neither family when one is exhausted', () => {
    const ipam = ipamWith('10.0.0.0/29,fd00::/126', '10.0.0.1,fd00::1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'b')).toThrow(NoAvailableAddressError)
    expect(ipam.lease('b')).toBeUndefined()
    expect(ask(ipam, 'c', { family: 4 })).toBe('10.0.0.3')
  })

  it('moves a NIC that asks in another subnet', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    setSubnet(ipam, '10.9.0.0/28', '10.9.0.1', [], 'other')
    ask(ipam, 'a')
    expect(ask(ipam, 'a', { subnet: 'other' })).toBe('10.9.0.2')
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual([])
    expect(ipam.leasesOf('pod/ns/a').map(text)).toEqual(['10.9.0.2'])
    expect(() => ask(ipam, 'a', { static: parseIpList('10.9.0.2') })).toThrow(AddressOutOfRangeError)
    expect(ipam.leasesOf('pod/ns/a').map(text)).toEqual(['10.9.0.2'])
  })

  it('keeps the NIC of another owner from being taken', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'a', { owner: 'pod/else' })).toThrow(NicConflictError)
    expect(ask(ipam, 'a', { owner: 'pod/else', shareOnConflict: true })).toBe('10.0.0.2')
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual(['pod/else'])
    expect(ipam.leasesOf('pod/ns/a')).toEqual([])
    expect(ipam.leasesOf('pod/else')).toHaveLength(1)
  })
})

describe('Ipam.allocate, static', () => {
  it.each([
    ['the gateway', '10.0.0.1', AddressConflictError],
    ["another owner's address", '10.0.0.2', AddressConflictError],
    ['an address outside', '10.0.1.1', AddressOutOfRangeError],
    ['the network address', '10.0.0.0', AddressOutOfRangeError],
    ['the broadcast address', '10.0.0.15', AddressOutOfRangeError],
    ['another family', 'fd00::9', InvalidIpFamilyError],
  ])('refuses %s and leaves the lease as it was', (_, address, error) => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'other')
    const before = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' })
    expect(() => ask(ipam, 'a', { static: parseIpList(address) })).toThrow(error)
    expect(ipam.lease('a')).toBe(before)
  })

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

  it('draws the other family, and takes nothing if that fails', () => {
    const ipam = ipamWith('10.0.0.0/29,fd00::/126', '10.0.0.1,fd00::1')
    expect(ask(ipam, 'a', { static: parseIpList('10.0.0.5') })).toBe('10.0.0.5,fd00::2')
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.6') })).toThrow(NoAvailableAddressError)
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.6,fd00::2') })).toThrow(AddressConflictError)
    expect(ipam.holders('s', parseIp('10.0.0.6'))).toEqual([])
    expect(ask(ipam, 'b', { static: parseIpList('10.0.0.6'), family: 4 })).toBe('10.0.0.6')
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.6'), family: 6 })).toThrow(InvalidIpFamilyError)
  })

  it('replaces only the address that differs and keeps the MAC address', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    const before = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o' })
    const after = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o', static: parseIpList('10.0.0.9') })
    expect(after).toEqual({ ...before, v4: parseIp('10.0.0.9') })
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual([])
    expect(ipam.statistics('s').v4?.usingRanges).toBe('10.0.0.9')
  })

  it('gives excluded and released addresses', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1', ['10.0.0.7'])
    ask(ipam, 'a')
    free(ipam, 'a')
    expect(ask(ipam, 'b', { static: parseIpList('10.0.0.2') })).toBe('10.0.0.2')
    expect(ask(ipam, 'c', { static: parseIpList('10.0.0.7') })).toBe('10.0.0.7')
    free(ipam, 'c')
    expect(ipam.statistics('s').v4?.availableRanges).toBe('10.0.0.3-10.0.0.6,10.0.0.8-10.0.0.14')
  })

  it('shares an address until the last owner releases it', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const shared = { static: parseIpList('10.0.0.2'), shareOnConflict: true }
    ask(ipam, 'a')
    ask(ipam, 'b', shared)
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual(['pod/ns/a', 'pod/ns/b'])
    free(ipam, 'a')
    expect(ipam.lease('a')).toBeUndefined()
    expect(() => ask(ipam, 'c', { static: parseIpList('10.0.0.2') })).toThrow(AddressConflictError)
    free(ipam, 'b')
    expect(ask(ipam, 'c', { static: parseIpList('10.0.0.2') })).toBe('10.0.0.2')
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
    expect(ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' })).toBe(lease)
    expect(() => ask(ipam, 'b', { mac: '02:00:00:00:00:01' })).toThrow(MacConflictError)
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.1') })).toThrow(InvalidIpFamilyError)
    free(ipam, 'a')
    expect(ask(ipam, 'b', { mac: '02:00:00:00:00:01' })).toBe('')
  })
})

describe('Ipam pools', () => {
  it('are drawn from by name only, and the rest of the subnet without', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.3', 'fd00::2', '10.0.0.8/29', '192.168.0.1'])
    expect(ask(ipam, 'a')).toBe('10.0.0.4,fd00::3')
    expect(ask(ipam, 'b', { pool: 'p' })).toBe('10.0.0.2,fd00::2')
    expect(() => ask(ipam, 'c', { pool: 'p' })).toThrow(NoAvailableAddressError)
    expect(() => ask(ipam, 'c', { pool: 'q' })).toThrow(NoAvailableAddressError)
    expect(ipam.poolStatistics('s', 'p').v4).toEqual({
      available: 8n,
      using: 1n,
      availableRanges: '10.0.0.3,10.0.0.8-10.0.0.14',
      usingRanges: '10.0.0.2',
    })
    expect(ipam.poolStatistics('s', '').v4?.availableRanges).toBe('10.0.0.5-10.0.0.7')
    expect(ipam.poolStatistics('s', 'q').v4).toBeUndefined()
    expect(() => ask(ipam, 'c', { static: parseIpList('192.168.0.1') })).toThrow(AddressOutOfRangeError)
    expect(() => ask(ipam, 'c', { static: parseIpList('10.0.0.15') })).toThrow(AddressOutOfRangeError)
  })

  it('know addresses that were in use before, and survive a change of the subnet', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.5'])
    const expected = { available: 3n, using: 1n, usingRanges: '10.0.0.2' }
    expect(ipam.poolStatistics('s', 'p').v4).toMatchObject(expected)
    setSubnet(ipam, '10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1', ['10.0.0.9'])
    expect(ipam.poolStatistics('s', 'p').v4).toMatchObject(expected)
    expect(ask(ipam, 'b', { static: parseIpList('10.0.0.4'), family: 4 })).toBe('10.0.0.4')
    setSubnet(ipam, '10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1', ['10.0.0.3', '10.0.0.2'])
    free(ipam, 'a')
    expect(ask(ipam, 'c', { pool: 'p', family: 4 })).toBe('10.0.0.5')
  })

  it('refuse addresses of a sibling, bad text and unknown subnets, and change nothing', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.5', 'fd00::5'])
    expect(() => ipam.setPool('s', 'q', ['10.0.0.4..10.0.0.9'])).toThrow(PoolConflictError)
    expect(() => ipam.setPool('s', 'q', ['fd00::4..fd00::6'])).toThrow(PoolConflictError)
    expect(() => ipam.setPool('s', 'q', ['10.0.0.9..10.0.0.6'])).toThrow('invalid IP range')
    expect(() => ipam.setPool('t', 'q', ['10.0.0.9'])).toThrow(NoSubnetError)
    expect(() => ipam.setPool('s', '', ['10.0.0.9'])).toThrow(RangeError)
    expect(ipam.hasPool('s', 'q')).toBe(false)
    expect(ipam.poolStatistics('s', '').v4?.availableRanges).toBe('10.0.0.6-10.0.0.14')
  })

  it('change and go, giving their addresses back', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.5'])
    ask(ipam, 'a', { pool: 'p' })
    ipam.setPool('s', 'p', ['10.0.0.4..10.0.0.8'])
    expect(ask(ipam, 'b')).toBe('10.0.0.3')
    ipam.removePool('s', 'p')
    ipam.removePool('s', 'p')
    ipam.removePool('unknown', 'p')
    expect(ipam.poolStatistics('s', '').v4).toMatchObject({
      using: 2n,
      availableRanges: '10.0.0.4-10.0.0.14',
    })
    free(ipam, 'a')
    expect(ask(ipam, 'c')).toBe('10.0.0.4')
  })
})

describe('Ipam.release', () => {
  it('answers what was held, for a NIC and for an owner in one subnet or in all', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    setSubnet(ipam, '10.9.0.0/28', '10.9.0.1', [], 'other')
    ask(ipam, 'a', { owner: 'pod/o' })
    ask(ipam, 'b', { owner: 'pod/o' })
    ask(ipam, 'c', { owner: 'pod/o', subnet: 'other' })
    expect(free(ipam, 'unknown')).toBeUndefined()
    expect(text(free(ipam, 'a', 'pod/o') ?? expect.unreachable())).toBe('10.0.0.2')
    expect(ipam.releaseOwner('pod/o', 'other').map(text)).toEqual(['10.9.0.2'])
    expect(ipam.releaseOwner('pod/o').map(text)).toEqual(['10.0.0.3'])
    expect(ipam.releaseOwner('pod/o')).toEqual([])
  })
})

describe('Ipam with many addresses', () => {
  it('costs nothing per free address and little per lease', { timeout: 60_000 }, () => {
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
