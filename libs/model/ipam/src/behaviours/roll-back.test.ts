import { describe, expect, it } from 'vitest'
import { halves, Network, stacks, type Layout } from '../testing/network.ts'

describe.each(stacks)('Roll-back in $name', (stack) => {
  const network = (layout: Layout = {}) => new Network(stack, layout)

  it('changes nothing when the MAC address is taken', () => {
    const net = network()
    const mac = '00:00:5e:00:53:01'
    net.ask('a', { mac })
    expect([net.ask('b', { mac }), net.ranges(), net.ipam.lease('b')]).toEqual([
      'AddressConflict',
      ['#3-#14', '#2'],
      undefined,
    ])
    expect(net.ask('b', { mac: '00:00:5e:00:53:02' })).toBe('#3')
  })
})

describe.each(halves)('Roll-back of IPv$other in a subnet of both', ({ family, other }) => {
  /** A subnet in which there is nothing left of one family. */
  function exhausted(): Network {
    const net = new Network({ families: [4, 6] })
    for (let turn = 0; net.ask(`other-${turn}`, { family }) !== 'NoAvailableAddress'; turn++);
    return net
  }

  it('gives it back when the other family is exhausted', () => {
    const net = exhausted()
    expect(net.ask('a')).toBe('NoAvailableAddress')
    expect(net.ask('a', { static: net.addresses('#9', [other]) })).toBe('NoAvailableAddress')
    expect(net.ips('#9', [other]).flatMap((ip) => net.ipam.holders('s', ip))).toEqual([])
    expect([net.has('a'), net.ask('b', { family: other })]).toEqual(['', '#2'])
  })

  it('keeps what the NIC had of it before', () => {
    const net = exhausted()
    net.ask('a', { family: other })
    const before = net.ipam.lease('a')
    expect(net.ask('a')).toBe('NoAvailableAddress')
    expect(net.ipam.lease('a')).toEqual(before)
  })

  it('keeps what the NIC had when the subnet had only this family', () => {
    const net = new Network({ families: [other] })
    net.ask('a')
    const before = net.ipam.lease('a')
    net.change({}, [4, 6])
    for (let turn = 0; net.ask(`other-${turn}`, { family }) !== 'NoAvailableAddress'; turn++);
    expect(net.ask('a')).toBe('NoAvailableAddress')
    expect(net.ipam.lease('a')).toEqual(before)
  })

  it('keeps it, and the MAC address, when the NIC asks for a MAC address that is taken', () => {
    const net = new Network({ families: [4, 6] })
    net.ask('a', { family: other, mac: '00:00:5e:00:53:01' })
    net.ask('b', { family: other, mac: '00:00:5e:00:53:02' })
    const before = net.ipam.lease('a')
    expect(net.ask('a', { family, mac: '00:00:5e:00:53:02' })).toBe('AddressConflict')
    expect(net.ipam.lease('a')).toEqual(before)
    expect(net.ipam.verify()).toEqual([])
  })
})
