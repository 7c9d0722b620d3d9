import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { missingForNamespaces, openTestNetwork } from '@kube-ovn/testing-net'
import { describe, expect, it } from 'vitest'
import { openNetlink, type Netlink, type NetlinkEvent } from './index.ts'

const missing = missingForNamespaces('ethtool')

/** Waits for an event that satisfies a predicate, after doing something. */
async function eventAfter(
  netlink: Netlink,
  action: () => void,
  isIt: (event: NetlinkEvent) => boolean,
): Promise<NetlinkEvent> {
  const { promise, resolve } = Promise.withResolvers<NetlinkEvent>()
  const everything = { links: true, addresses: true, routes: true, rules: true, neighbours: true }
  using _watch = netlink.watch(
    everything,
    (event) => {
      if (isIt(event)) resolve(event)
    },
    { ref: true },
  )
  action()
  return await promise
}

describe.skipIf(missing)(`watch${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('tells what anybody changed, in the namespace it was opened for', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const { index } = netlink.createVeth({ name: 'eth0', up: true, peer: { name: 'eth1' } })
    netlink.changeLink(netlink.link('eth1')?.index ?? 0, { up: true })
    const steps: readonly [string, (event: NetlinkEvent) => boolean][] = [
      ['link set eth0 mtu 1300', (event) => event.kind === 'link' && event.link.mtu === 1300],
      [
        'address add 10.1.0.1/24 dev eth0',
        (event) => event.kind === 'address' && event.address.cidr === '10.1.0.1/24',
      ],
      [
        'address add fd00::1/64 dev eth0 nodad',
        (event) => event.kind === 'address' && event.address.cidr === 'fd00::1/64',
      ],
      [
        'route add 10.9.0.0/16 via 10.1.0.2',
        (event) => event.kind === 'route' && event.route.gateway === '10.1.0.2',
      ],
      [
        '-6 route add fd09::/64 via fd00::2',
        (event) => event.kind === 'route' && event.route.gateway === 'fd00::2',
      ],
      ['rule add priority 5 table 9', (event) => event.kind === 'rule' && event.rule.table === 9],
      ['-6 rule add priority 5 table 9', (event) => event.kind === 'rule' && event.rule.family === 'ipv6'],
      [
        'neighbour add 10.1.0.7 lladdr 02:00:00:00:00:07 dev eth0',
        (event) => event.kind === 'neighbour' && event.neighbour.mac === '02:00:00:00:00:07',
      ],
      ['route del 10.9.0.0/16', (event) => event.kind === 'route' && event.change === 'removed'],
      [
        'link del eth0',
        (event) => event.kind === 'link' && event.change === 'removed' && event.link.index === index,
      ],
    ]
    for (const [command, isIt] of steps) {
      const event = await eventAfter(netlink, () => space.run('ip', ...command.split(' ')), isIt)
      expect(event, command).toSatisfy(isIt)
    }
  })

  it('tells that somebody changed an offload', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const { index } = netlink.createVeth({ name: 'eth0', peer: { name: 'eth1' } })
    netlink.disableTxChecksumOffload('eth0')
    await eventAfter(
      netlink,
      () => space.run('ethtool', '-K', 'eth0', 'tx', 'on'),
      (event) => event.kind === 'link' && event.link.index === index,
    )
    expect(netlink.offload('eth0')?.txChecksum).toBe(true)
  })

  it('says resync when events were lost', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const { promise, resolve } = Promise.withResolvers<NetlinkEvent>()
    using _watch = netlink.watch(
      { links: true },
      (event) => {
        if (event.kind === 'resync') resolve(event)
      },
      { receiveBufferBytes: 4096, ref: true },
    )
    // The event loop is busy here, so nobody reads.
    for (let mtu = 1300; mtu < 1400; mtu++) netlink.changeLink(1, { mtu })
    expect(await promise).toEqual({ kind: 'resync' })
  })

  it('is silent once disposed of, also from within the listener', async () => {
    using network = openTestNetwork()
    using netlink = openNetlink({ netns: network.namespace('one').path })
    let heard = 0
    const first = netlink.watch({ links: true }, () => {
      heard++
      first[Symbol.dispose]()
    })
    netlink.changeLink(1, { mtu: 1300 })
    netlink.changeLink(1, { mtu: 1301 })
    await eventAfter(
      netlink,
      () => netlink.changeLink(1, { mtu: 1302 }),
      (event) => event.kind === 'link' && event.link.mtu === 1302,
    )
    expect(heard).toBe(1)
  })

  it('does not keep a process from ending', () => {
    const program = `
      import { openNetlink } from ${JSON.stringify(fileURLToPath(new URL('./index.ts', import.meta.url)))}
      openNetlink().watch({ links: true, routes: true }, () => {})
      console.log('end of program')`
    const result = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect({ out: result.stdout, status: result.status }).toEqual({ out: 'end of program\n', status: 0 })
  })

  it('continues promises and reports exceptions of its listener like any other code', () => {
    const program = `
      import { openNetlink } from ${JSON.stringify(fileURLToPath(new URL('./index.ts', import.meta.url)))}
      const netlink = openNetlink({ netns: process.argv[1] })
      process.on('uncaughtException', (error) => { console.log(error.message); process.exit(0) })
      netlink.watch({ links: true }, async () => { await undefined; throwIt() }, { ref: true })
      netlink.watch({ links: true }, () => { throw new Error('from a listener') }, { ref: true })
      function throwIt() { console.log('continued') }
      netlink.changeLink(1, { mtu: 1300 })`
    using network = openTestNetwork()
    const { path } = network.namespace('one')
    const result = spawnSync(process.execPath, ['--input-type=module', '-e', program, path], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect({ out: result.stdout, status: result.status }).toEqual({
      out: 'continued\nfrom a listener\n',
      status: 0,
    })
  })
})
