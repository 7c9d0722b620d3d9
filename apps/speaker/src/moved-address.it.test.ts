import { bgpPeerResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import { describe, expect, it } from 'vitest'
import { own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
/** As GoBGP counts states. */
const established = 6
const other = { ipv4: '192.0.2.7', ipv6: '2001:db8::7' } as const
/** On a second link to the router. */
const second = { own: '198.51.100.1', router: '198.51.100.2' } as const
/** Longer than anybody waits, and much shorter than the hold time. */
const soon = { timeout: 2_000 }

describe.skipIf(missing)(`own addresses${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()
  const told = (): Readonly<Record<string, string>> => node.told()
  const ip = (...args: string[]): unknown => node.here.run('ip', ...args)
  const both = { '10.16.0.0/16': own.ipv4, 'fd00:10:16::/112': own.ipv6 }

  /** A speaker that has told both of its neighbours, who know it by more addresses as well. */
  async function start(addresses: readonly string[]): Promise<void> {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    await node.restartRouter({}, [own.ipv4, own.ipv6, ...addresses])
    node.start('--graceful-restart')
    await expect.poll(told).toEqual(both)
  }

  /** States of neighbours, as the router has them. */
  function neighbors(): Readonly<Record<string, boolean>> {
    const found = node.peer.ask('neighbor') as readonly RouterNeighbor[]
    return Object.fromEntries(
      found.map(({ state }) => [state.neighbor_address, state.session_state === established]),
    )
  }

  it('has sessions made anew from the address that is left when theirs is gone', async () => {
    node.here.run('sysctl', '-qw', 'net.ipv4.conf.all.promote_secondaries=1')
    await start([other.ipv4, other.ipv6])
    ip('address', 'add', `${other.ipv4}/24`, 'dev', 'eth0')
    // Not to be chosen as long as there is another.
    ip('address', 'add', `${other.ipv6}/64`, 'dev', 'eth0', 'nodad', 'preferred_lft', '0')
    for (const [family, length] of [
      ['ipv4', 24],
      ['ipv6', 64],
    ] as const) {
      expect(neighbors()).toMatchObject({ [own[family]]: true, [other[family]]: false })
      ip('address', 'del', `${own[family]}/${length}`, 'dev', 'eth0')
      await expect.poll(neighbors, soon).toMatchObject({ [own[family]]: false, [other[family]]: true })
    }
    await expect.poll(told, soon).toEqual({ '10.16.0.0/16': other.ipv4, 'fd00:10:16::/112': other.ipv6 })
    expect(node.log.lines).toContainEqual(
      expect.objectContaining({
        ...{ level: 'warn', message: 'BGP session was lost' },
        fields: expect.objectContaining({
          field: 'local-address',
          value: own.ipv4,
          cure: expect.any(String),
        }),
      }),
    )
  })

  it('has a session made anew by another link when its own is down', async () => {
    node.network.connect(
      { namespace: node.here, name: 'eth1', addresses: [`${second.own}/24`] },
      { namespace: node.there, name: 'eth1', addresses: [`${second.router}/24`] },
    )
    await start([second.own])
    ip('route', 'add', router.ipv4, 'via', second.router, 'metric', '100')
    ip('link', 'set', 'eth0', 'down')
    await expect.poll(neighbors, soon).toMatchObject({ [own.ipv4]: false, [second.own]: true })
    await expect.poll(told, soon).toMatchObject({ '10.16.0.0/16': second.own })
  })

  it('goes on with its sessions when its link is up again', async () => {
    await start([])
    ip('link', 'set', 'eth0', 'down')
    ip('link', 'set', 'eth0', 'up')
    ip('address', 'add', `${own.ipv6}/64`, 'dev', 'eth0', 'nodad')
    await node.createSubnet('blue', '10.17.0.0/16,fd00:10:17::/112', 'true')
    const more = { '10.17.0.0/16': own.ipv4, 'fd00:10:17::/112': own.ipv6 }
    await expect.poll(told, soon).toEqual({ ...both, ...more })
    expect(node.log.lines.filter(({ message }) => message === 'BGP session was lost')).toEqual([])
  })

  it('are dialled from as soon as there is a way, however often that has failed', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    ip('link', 'set', 'eth0', 'down')
    node.start('--neighbor-ipv6-address=')
    const failures = (): number =>
      node.log.lines.filter(({ message }) => message === 'BGP session did not come about').length
    // The next try by itself would come four seconds later.
    await expect.poll(failures, { timeout: 10_000 }).toBe(3)
    ip('link', 'set', 'eth0', 'up')
    await expect.poll(told, soon).toEqual({ '10.16.0.0/16': own.ipv4 })
  })

  it('that are allowed no more end nothing, and are told of where routes are missed', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    ip('address', 'add', `${other.ipv4}/24`, 'dev', 'eth0')
    node.start('--neighbor-ipv6-address=', `--allowed-source-addresses=${own.ipv4}`)
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    ip('route', 'replace', `${router.ipv4}/32`, 'dev', 'eth0', 'src', other.ipv4)
    await expect.poll(told, soon).toEqual({})
    const problem = {
      ...{ field: 'allowed-source-addresses', value: own.ipv4 },
      cure: `allow ${other.ipv4}, from which the node's routes lead to ${router.ipv4}, or change the routes`,
    }
    expect(node.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: { peer: router.ipv4, ...problem } }),
    )
    const counts = async (): Promise<readonly string[]> =>
      (await node.registry.metrics()).match(/^kube_ovn_speaker_routes_.* \d+$/gm) ?? []
    expect((await counts()).map((line) => line.replace(/\{.*\}/, ''))).toEqual([
      'kube_ovn_speaker_routes_wanted 1',
      'kube_ovn_speaker_routes_advertised 0',
    ])
    await expect
      .poll(async () => (await node.api.client.get(bgpPeerResource, { name: 'node-1.192-0-2-2' }))?.status)
      .toMatchObject({
        ...{ state: 'Established', prefixes: { wanted: 1, advertised: 0 } },
        conditions: [
          {
            status: 'True',
            message: `no routes are told (${problem.field} is ${problem.value}: ${problem.cure})`,
          },
        ],
      })
    ip('route', 'del', `${router.ipv4}/32`, 'dev', 'eth0')
    await expect.poll(told, soon).toEqual({ '10.16.0.0/16': own.ipv4 })
  })
})

interface RouterNeighbor {
  readonly state: { readonly neighbor_address: string; readonly session_state: number }
}
