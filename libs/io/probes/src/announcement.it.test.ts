import { openNetlink, type Netlink } from '@kube-ovn/netlink'
import { missingForNamespaces, openTestNetwork } from '@kube-ovn/testing-net'
import { describe, expect, it } from 'vitest'
import { announceAddresses } from './announcement.ts'

const missing = missingForNamespaces()
const ips = ['10.16.0.5', 'fd00:10:16::5']

describe.skipIf(missing)(`an announcement${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('replaces what a neighbour knows, whatever it has been told a moment ago', async () => {
    using network = openTestNetwork()
    const [own, peer] = [network.namespace('own'), network.namespace('peer')]
    network.connect({ namespace: own, name: 'eth0' }, { namespace: peer, name: 'eth0' })
    using inside = openNetlink({ netns: own.path })
    using neighbour = openNetlink({ netns: peer.path })
    const index = neighbour.link('eth0')?.index ?? 0
    for (const address of ips)
      neighbour.replaceNeighbour({ index, address, mac: '02:00:00:00:00:99', state: 'reachable' })
    const { index: ownIndex, mac = '' } = inside.link('eth0') ?? { index: 0 }
    await untilKnown(neighbour, mac, () => announceAddresses(inside, { index: ownIndex, mac, ips }))
    expect(neighbour.neighbours(index)).toEqual(
      expect.arrayContaining(ips.map((address) => expect.objectContaining({ address, mac, state: 'stale' }))),
    )
  })

  it('costs little more than a socket of the namespace, so that it delays nobody', () => {
    using network = openTestNetwork()
    const [own, peer] = [network.namespace('own'), network.namespace('peer')]
    network.connect({ namespace: own, name: 'eth0' }, { namespace: peer, name: 'eth0' })
    using inside = openNetlink({ netns: own.path })
    const { index, mac = '' } = inside.link('eth0') ?? { index: 0 }
    const opening = medianMs(() => openNetlink({ netns: own.path })[Symbol.dispose]())
    // As much again here; a hundred times as much when the kernel is waited for to let go of the socket.
    expect(medianMs(() => announceAddresses(inside, { index, mac, ips }))).toBeLessThan(20 * opening)
  })

  it('is refused by a link that is down or gone, and by who refuses in the place of the kernel', () => {
    using network = openTestNetwork()
    const own = network.namespace('own')
    using inside = openNetlink({ netns: own.path })
    const { index } = inside.createVeth({ name: 'eth0', peer: { name: 'eth1' } })
    const announcement = { index, mac: '02:00:00:00:00:01', ips }
    expect(() => announceAddresses(inside, announcement)).toThrow(refusal('ENETDOWN'))
    inside.removeLink(index)
    expect(() => announceAddresses(inside, announcement)).toThrow(refusal('ENODEV'))
    using refusing = openNetlink({ netns: own.path, refuse: () => 'ENOBUFS' })
    expect(() => announceAddresses(refusing, announcement)).toThrow(refusal('ENOBUFS'))
  })
})

function medianMs(action: () => unknown): number {
  const times = Array.from({ length: 50 }, () => {
    const startedMs = performance.now()
    action()
    return performance.now() - startedMs
  })
  return times.toSorted((a, b) => a - b)[25] ?? Infinity
}

function refusal(errno: string): object {
  return expect.objectContaining({ details: expect.objectContaining({ operation: 'packet send', errno }) })
}

/** Waits until a neighbour has a MAC address for all addresses, after doing something. */
async function untilKnown(neighbour: Netlink, mac: string, action: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const left = new Set(ips)
  using _watch = neighbour.watch(
    { neighbours: true },
    (event) => {
      if (event.kind !== 'neighbour' || event.neighbour.mac !== mac) return
      left.delete(event.neighbour.address)
      if (left.size === 0) resolve()
    },
    { ref: true },
  )
  action()
  await promise
}
