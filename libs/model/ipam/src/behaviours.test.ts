import { formatIpList, parseCidrList, parseIpList, type DualStackIp } from '@kube-ovn/ip'
import { KubeOvnError } from '@kube-ovn/errors'
import { describe, expect, it } from 'vitest'
import { Ipam, type AllocateRequest, type Lease, type Owner } from './index.ts'

// What upstream's own tests check (its pkg/ipam), each in all stacks. `#n` is the n-th address of the block.

interface Stack {
  readonly name: string
  readonly cidr: (prefix4: number, prefix6: number) => string
  readonly text: (addresses: string) => string
}

const stacks: readonly Stack[] = [
  { name: 'IPv4', cidr: (v4) => `10.0.0.0/${v4}`, text: (text) => text.replaceAll('#', '10.0.0.') },
  { name: 'IPv6', cidr: (_, v6) => `fd00::/${v6}`, text: inHex },
  {
    name: 'dual stack',
    cidr: (v4, v6) => `10.0.0.0/${v4},fd00::/${v6}`,
    text: (text) => both(text),
  },
  {
    name: 'dual stack, IPv6 first',
    cidr: (v4, v6) => `fd00::/${v6},10.0.0.0/${v4}`,
    text: (text) => both(text),
  },
]

function inHex(text: string): string {
  return text.replaceAll(/#(\d+)/g, (_, digits: string) => `fd00::${Number(digits).toString(16)}`)
}

function both(text: string): string {
  return `${text.replaceAll('#', '10.0.0.')},${inHex(text)}`
}

/** What happens in a test, and how it is asked about. */
class Network {
  readonly #stack: Stack
  readonly ipam: Ipam
  #macs = 0

  constructor(stack: Stack, prefix4: number, prefix6: number, excluded: readonly string[] = []) {
    this.#stack = stack
    this.ipam = new Ipam((bytes) =>
      Uint8Array.from({ length: bytes }, (_, index) => (index % 6 < 4 ? 0 : this.#macs++)),
    )
    this.change(prefix4, prefix6, excluded)
  }

  change(prefix4: number, prefix6: number, excluded: readonly string[] = []): readonly string[] {
    const cidrs = parseCidrList(this.#stack.cidr(prefix4, prefix6))
    const gateways = { v4: cidrs.v4 && this.addresses('#1').v4, v6: cidrs.v6 && this.addresses('#1').v6 }
    const excludeIps = this.entries(excluded)
    return this.ipam.setSubnet({ name: 's', cidrs, gateways, excludeIps }).lost.map(({ nic }) => nic)
  }

  pool(name: string, ips: readonly string[]): void {
    this.ipam.setPool('s', name, this.entries(ips))
  }

  /** `#2`, or how the request was refused. */
  ask(nic: string, wishes: Partial<AllocateRequest> = {}): string {
    try {
      return this.said(this.ipam.allocate({ subnet: 's', nic, owner: ownerOfNic(nic), ...wishes }))
    } catch (error) {
      if (error instanceof KubeOvnError) return error.message.split(':')[0] ?? ''
      throw error
    }
  }

  want(nic: string, address: string, wishes: Partial<AllocateRequest> = {}): string {
    return this.ask(nic, { static: this.addresses(address), ...wishes })
  }

  free(nic: string): void {
    this.ipam.release(nic, ownerOfNic(nic))
  }

  holders(address: string): readonly Owner[] {
    const { v4, v6 } = this.addresses(address)
    const [ofV4, ofV6] = [v4, v6].map((ip) => (ip === undefined ? undefined : this.ipam.holders('s', ip)))
    return alike([ofV4, ofV6].filter((owners) => owners !== undefined)) ?? []
  }

  /** What is available, and in use, as ranges. */
  ranges(pool?: string): readonly string[] {
    const statistics = pool === undefined ? this.ipam.statistics('s') : this.ipam.poolStatistics('s', pool)
    const texts = [statistics.v4, statistics.v6].flatMap((family) =>
      family === undefined ? [] : [[family.availableRanges, family.usingRanges].map(short)],
    )
    return alike(texts) ?? []
  }

  addresses(text: string): DualStackIp {
    return parseIpList(this.#stack.text(text))
  }

  said(lease: Lease): string {
    return alike(formatIpList(lease).split(',').map(short)) ?? ''
  }

  entries(texts: readonly string[]): readonly string[] {
    return texts.flatMap((text) => this.#stack.text(text).split(','))
  }
}

/** What is the same in all families. */
function alike<T>(values: readonly T[]): T | undefined {
  const [first, ...others] = values.map((value) => JSON.stringify(value))
  const other = others.find((text) => text !== first)
  if (other !== undefined) throw new Error(`the families differ: ${first} and ${other}`)
  return values[0]
}

function ownerOfNic(nic: string): Owner {
  return `pod/ns/${nic.replace(/\..*/, '')}`
}

/** Writes addresses of both families as `#n`. */
function short(text: string): string {
  return text
    .replaceAll(/10\.0\.0\.(\d+)/g, '#$1')
    .replaceAll(/fd00::([0-9a-f]*)/g, (_, digits: string) => `#${Number.parseInt(`0${digits}`, 16)}`)
}

describe.each(stacks)('in $name', (stack) => {
  const network = (prefix4: number, prefix6: number, excluded: readonly string[] = []) =>
    new Network(stack, prefix4, prefix6, excluded)

  it('prints what is available without the ends, the gateway and the excluded', () => {
    expect(network(28, 124, ['#10', '#12..#20']).ranges()).toEqual(['#2-#9,#11', ''])
  })

  it('draws the lowest that is neither excluded nor skipped', () => {
    const net = network(28, 124, ['#2', '#4'])
    const { v4, v6 } = net.addresses('#3')
    const skip = new Set([v4, v6].filter((ip) => ip !== undefined))
    expect([net.ask('a', { skip }), net.ask('b')]).toEqual(['#5', '#3'])
  })

  it('gives different addresses to two NICs of one pod, and names both by the pod', () => {
    const net = network(28, 124)
    expect([net.ask('a.eth0'), net.ask('a.net1')]).toEqual(['#2', '#3'])
    expect(net.ipam.leasesOf('pod/ns/a').map((lease) => net.said(lease))).toEqual(
      expect.arrayContaining(['#2', '#3']),
    )
  })

  it('returns the static address to a NIC that asks again without it', () => {
    const net = network(28, 124)
    expect([net.want('a', '#9'), net.ask('a')]).toEqual(['#9', '#9'])
  })

  it('comes back to a released address only after all others', () => {
    const net = network(29, 125, ['#4..#6'])
    const turns = Array.from({ length: 4 }, () => {
      const address = net.ask('a')
      net.free('a')
      return address
    })
    expect(turns).toEqual(['#2', '#3', '#2', '#3'])
  })

  it('gives the next addresses, not the old ones, to pods that are restarted together', () => {
    const net = network(24, 120)
    const names = ['a', 'b', 'c', 'd', 'e']
    expect(names.map((name) => net.ask(name))).toEqual(['#2', '#3', '#4', '#5', '#6'])
    for (const name of names) net.free(name)
    expect(net.ranges()).toEqual(['#2-#254', ''])
    for (const name of names) net.ask(`new-${name}`)
    expect(net.ranges()).toEqual(['#2-#6,#12-#254', '#7-#11'])
  })

  it('refuses what is held, the gateway and what lies outside, and leaves the lease as it was', () => {
    const net = network(28, 124)
    net.ask('a')
    net.ask('b')
    expect(net.want('b', '#2')).toBe('AddressConflict')
    expect(net.want('b', '#1')).toBe('AddressConflict')
    expect(net.want('b', '#200')).toBe('AddressOutOfRange')
    expect([net.ask('b'), net.holders('#3'), net.holders('#2')]).toEqual(['#3', ['pod/ns/b'], ['pod/ns/a']])
  })

  it('exchanges a static address and makes the old one available again', () => {
    const net = network(28, 124)
    const mac = net.ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' }).mac
    expect([net.want('a', '#9'), net.want('a', '#9'), net.ipam.lease('a')?.mac]).toEqual(['#9', '#9', mac])
    expect([net.holders('#2'), net.ranges()]).toEqual([[], ['#2-#8,#10-#14', '#9']])
    expect(net.want('b', '#2')).toBe('#2')
  })

  it('works in a point-to-point subnet', () => {
    const net = network(31, 127)
    expect([net.ask('a'), net.ask('b')]).toEqual(['#0', 'NoAvailableAddress'])
    net.free('a')
    expect(net.want('b', '#0')).toBe('#0')
  })

  it('shares an address, and keeps it until both have released it', () => {
    const net = network(28, 124)
    net.want('a', '#9')
    expect(net.want('b', '#9', { shareOnConflict: true })).toBe('#9')
    net.free('a')
    expect([net.holders('#9'), net.want('c', '#9')]).toEqual([['pod/ns/b'], 'AddressConflict'])
    net.free('b')
    expect(net.want('c', '#9')).toBe('#9')
  })

  it('gives excluded addresses to those who ask for them, and does not draw them afterwards', () => {
    const net = network(29, 125, ['#2'])
    expect(net.want('a', '#2')).toBe('#2')
    expect(net.ranges()).toEqual(['#3-#6', ''])
    net.free('a')
    expect(['b', 'c', 'd', 'e', 'f'].map((name) => net.ask(name))).toEqual([
      '#3',
      '#4',
      '#5',
      '#6',
      'NoAvailableAddress',
    ])
  })

  it('changes nothing when the MAC address is taken', () => {
    const net = network(28, 124)
    const mac = '00:00:5e:00:53:01'
    net.ask('a', { mac })
    expect([net.ask('b', { mac }), net.ranges(), net.ipam.lease('b')]).toEqual([
      'AddressConflict',
      ['#3-#14', '#2'],
      undefined,
    ])
    expect(net.ask('b', { mac: '00:00:5e:00:53:02' })).toBe('#3')
  })

  it('releases by NIC and by owner, and nothing that is not there', () => {
    const net = network(28, 124)
    net.ask('a.eth0')
    net.ask('a.net1')
    net.free('b')
    net.free('a.eth0')
    expect(net.ranges()).toEqual(['#2,#4-#14', '#3'])
    net.ipam.releaseOwner('pod/ns/a')
    expect(net.ranges()).toEqual(['#2-#14', ''])
  })

  it('releases nothing of a pod that has taken over from the one that is gone', () => {
    const net = network(28, 124)
    net.ask('a', { uid: 'old' })
    net.ask('a', { uid: 'new' })
    expect(net.ipam.release('a', 'pod/ns/a', 'old')).toBeUndefined()
    expect(net.ipam.release('a', 'vip/ns/a')).toBeUndefined()
    expect(net.ipam.release('a', 'pod/ns/a', 'new')?.uid).toBe('new')
  })

  it('keeps the addresses of pools for those who name the pool', () => {
    const net = network(28, 124)
    net.pool('p', ['#2..#4'])
    expect([net.ask('a'), net.ask('b', { pool: 'p' })]).toEqual(['#5', '#2'])
    expect([net.ranges('p'), net.ranges('')]).toEqual([
      ['#3-#4', '#2'],
      ['#6-#14', '#5'],
    ])
    net.ipam.removePool('s', 'p')
    expect(net.ranges('')).toEqual(['#3-#4,#6-#14', '#2,#5'])
  })

  it('knows what is in use when a pool is made over it, and after the subnet has changed', () => {
    const net = network(28, 124)
    net.ask('a')
    net.pool('p', ['#2..#5'])
    expect(net.ranges('p')).toEqual(['#3-#5', '#2'])
    net.change(28, 124, ['#14'])
    expect(net.ranges('p')).toEqual(['#3-#5', '#2'])
  })

  it('does not offer what was released and is excluded by now', () => {
    const net = network(28, 124)
    net.pool('p', ['#2..#6'])
    expect(net.ask('a', { pool: 'p' })).toBe('#2')
    net.change(28, 124, ['#2', '#3..#5'])
    net.free('a')
    expect([net.ask('b', { pool: 'p' }), net.ask('c', { pool: 'p' })]).toEqual(['#6', 'NoAvailableAddress'])
  })

  it('keeps a static address of a pool to be had after an unrelated change', () => {
    const net = network(28, 124)
    net.pool('p', ['#5'])
    net.change(28, 124, ['#9'])
    expect(net.want('a', '#5')).toBe('#5')
  })

  it('refuses a pool that overlaps with another, and has no such pool then', () => {
    const net = network(28, 124)
    net.pool('p', ['#2..#5'])
    expect(() => net.pool('q', ['#5..#9'])).toThrow('has addresses of another IPPool')
    expect(net.ipam.hasPool('s', 'q')).toBe(false)
  })

  it('grows without taking anything from anybody', () => {
    const net = network(28, 124)
    net.ask('a')
    expect(net.change(24, 120)).toEqual([])
    expect([net.ask('a'), net.ranges()]).toEqual(['#2', ['#3-#254', '#2']])
  })

  it('takes what lies outside from its holders when it shrinks', () => {
    const net = network(24, 120)
    net.ask('a')
    net.want('b', '#200')
    expect(net.change(28, 124)).toEqual(['b'])
    expect([net.ipam.lease('b'), net.ranges()]).toEqual([undefined, ['#3-#14', '#2']])
  })
})
