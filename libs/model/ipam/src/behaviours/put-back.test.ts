import { describe, expect, it } from 'vitest'
import type { Ipam } from '../ipam.ts'
import { Network, stacks } from '../testing/network.ts'

/** All that can be seen of it, and what it would give next. */
function stateOf(ipam: Ipam, net: Network): unknown {
  const leases = [...ipam.leases()].sort((a, b) => a.nic.localeCompare(b.nic))
  const next = ipam.fork().allocate({ subnet: 's', nic: 'next', owner: 'pod/ns/next', mac: false })
  return [leases, ipam.statistics('s'), next.v4, next.v6, net.ipam.verify()]
}

describe.each(stacks)('What a NIC had in $name', (stack) => {
  it.each([
    ['something new', (ipam: Ipam) => ipam.allocate({ subnet: 's', nic: 'new', owner: 'pod/ns/new' }), 'new'],
    [
      'another address',
      (ipam: Ipam) => {
        const { v4, v6 } = ipam.lease('a') ?? {}
        const skip = new Set([v4, v6].filter((ip) => ip !== undefined))
        return ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a', skip })
      },
      'a',
    ],
    ['nothing', (ipam: Ipam) => ipam.release('a', 'pod/ns/a'), 'a'],
    [
      'another owner',
      (ipam: Ipam) => ipam.allocate({ subnet: 's', nic: 'a', owner: 'vm/ns/a', shareOnConflict: true }),
      'a',
    ],
  ])('is its own again after it got %s, and nobody else sees a difference', (_, act, nic) => {
    const net = new Network(stack, {})
    for (const name of ['a', 'b', 'c']) net.ask(name)
    net.ipam.release('c', 'pod/ns/c')
    const [before, held] = [stateOf(net.ipam, net), net.ipam.lease(nic)]
    act(net.ipam)
    expect(stateOf(net.ipam, net)).not.toEqual(before)
    net.ipam.putBack(nic, held)
    expect(stateOf(net.ipam, net)).toEqual(before)
  })
})
