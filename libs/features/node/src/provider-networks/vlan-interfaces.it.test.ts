import type { ProviderNetwork, Vlan } from '@kube-ovn/kube-api'
import { providerNetworkKeysOf } from '@kube-ovn/annotations'
import { systemClock } from '@kube-ovn/process'
import { ManualClock, type Clock } from '@kube-ovn/time'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findInterface, integrationBridge } from '../local-ovs.ts'
import { addInternal, playVswitchd } from '../testing/play-vswitchd.ts'
import { addVlanStandIn, withVlanStandIns } from '../testing/vlan-stand-ins.ts'
import { subnetOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')
const mac = '02:00:00:00:99:02'

describe.skipIf(missing)(
  `VLAN interfaces of a NIC${missing === undefined ? '' : ` (${missing})`}`,
  { timeout: 60_000 },
  () => {
    let node: TestNode
    let agent: TestAgent
    let generation: number

    beforeEach(async () => {
      node = await TestNode.start()
      generation = 1
      await node.database.vsctl('add-br', integrationBridge)
      playVswitchd(node)
      ip('link', 'add', 'eth1', 'address', mac, 'type', 'veth', 'peer', 'name', 'far')
      ip('link', 'set', 'eth1', 'up')
      ip('link', 'set', 'far', 'up')
      ip('addr', 'add', '10.99.0.2/24', 'dev', 'eth1')
    })
    afterEach(() => node?.[Symbol.asyncDispose]())

    function ip(...args: readonly string[]): string {
      return node.host.run('ip', ...args)
    }

    function start(clock: Clock = systemClock): void {
      const seenBy = (host: Parameters<typeof withVlanStandIns>[1]) => withVlanStandIns(node.host, host)
      agent = node.startAgent({}, clock, { seenBy })
    }

    /** Stand-ins for VLAN interfaces may not have the address of the NIC. */
    const vlanMac = '02:00:00:00:99:64'

    function addVlan(name: string, address: string, ownMac = vlanMac): void {
      addVlanStandIn(node.host, 'eth1', { name, mac: ownMac, up: true })
      ip('addr', 'add', address, 'dev', name)
    }

    function put(spec: Partial<NonNullable<ProviderNetwork['spec']>>): void {
      node.networks.put('quay', {
        metadata: { name: 'quay', generation: generation++ },
        spec: { defaultInterface: 'eth1', ...spec },
      })
    }

    /** Addresses of a link, and its routes by a gateway; `undefined`: there is no such link. */
    function has(link: string): readonly string[] | undefined {
      try {
        const addresses = ip('-o', '-4', 'addr', 'show', 'dev', link)
        const routes = ip('-4', 'route', 'show', 'dev', link)
        return [
          ...[...addresses.matchAll(/inet (\S+)/g)].map(([, address = '']) => address),
          ...[...routes.matchAll(/^(\S+) via (\S+)/gm)].map(([, to, by]) => `${to} via ${by}`),
        ]
      } catch {
        return undefined
      }
    }

    function ready(): string | undefined {
      return node.nodes.store.get('n1')?.metadata.labels?.[providerNetworkKeysOf('quay').ready]
    }

    function label(): string | undefined {
      return node.nodes.store.get('n1')?.metadata.labels?.[providerNetworkKeysOf('quay').vlanInterfaces]
    }

    function problem(): string | undefined {
      return node.nodes.store.get('n1')?.metadata.annotations?.[providerNetworkKeysOf('quay').problem]
    }

    function port(name: string) {
      const [row] = node.ovs.cache.find('Port', 'name', name)
      return row === undefined
        ? undefined
        : { tag: row.tag, trunks: row.trunks, source: row.external_ids['provider-vlan-interface'] }
    }

    async function until(what: () => unknown, wanted: unknown): Promise<void> {
      await vi.waitFor(() => expect(what()).toEqual(wanted), { timeout: 20_000 })
    }

    async function settle(): Promise<void> {
      expect(await agent.settle()).toEqual([])
    }

    const moved = ['10.100.0.2/24', '10.98.0.0/16 via 10.100.0.1']

    function addRoutedVlan(): void {
      addVlan('eth1.100', '10.100.0.2/24')
      ip('route', 'add', '10.98.0.0/16', 'via', '10.100.0.1', 'dev', 'eth1.100')
    }

    it('are kept by ports with their tag, which a restart leaves alone, and given back in the end', async () => {
      addRoutedVlan()
      start()
      put({ preserveVlanInterfaces: true })
      await until(() => has('br-quay-vlan100'), moved)
      await until(ready, 'true')
      expect(label()).toBe('true')
      expect(has('eth1.100')).toBeUndefined()
      expect(has('eth1')).toEqual([])
      expect(has('br-quay')).toEqual(['10.99.0.2/24'])
      expect(port('br-quay-vlan100')).toEqual({ tag: 100, trunks: [], source: 'eth1.100' })
      expect(port('eth1')).toMatchObject({ trunks: [0, 100] })
      expect(findInterface(node.ovs, 'br-quay-vlan100')).toMatchObject({ mac: vlanMac, mtu_request: 1500 })
      await settle()
      await agent.stop()
      start()
      await settle()
      expect(await agent.writes()).toBe(0)
      put({ preserveVlanInterfaces: true, excludeNodes: ['n1'] })
      await until(() => has('eth1.100'), moved)
      await until(() => has('eth1'), ['10.99.0.2/24'])
      await until(() => has('br-quay-vlan100'), undefined)
      await until(label, undefined)
      expect(ip('link', 'show', 'eth1.100')).toContain(vlanMac)
      await settle()
    })

    it('leave the NIC the tag of a Vlan that subnets are on, until an edit of that is in effect', async () => {
      const putVlan = (id: number, vlanGeneration: number, status: Vlan['status']) =>
        node.vlans.put('v100', {
          metadata: { name: 'v100', generation: vlanGeneration },
          spec: { id, provider: 'quay' },
          ...(status === undefined ? {} : { status }),
        })
      const trunks = () => port('eth1')?.trunks
      const refused = { type: 'Validated', status: 'False', reason: 'ValidateVlanFailed' } as const
      node.subnets.put('wharf', subnetOf('wharf', { cidrBlock: '10.98.0.0/24', vlan: 'v100' }))
      putVlan(100, 1, { observedGeneration: 1 })
      start()
      put({})
      await until(trunks, [0, 100])
      putVlan(200, 2, { observedGeneration: 1 })
      await until(trunks, [0, 100, 200])
      putVlan(200, 2, { observedGeneration: 2, conflict: true, conditions: [refused] })
      await settle()
      expect(trunks()).toEqual([0, 100, 200])
      await agent.stop()
      start()
      await settle()
      expect(trunks()).toEqual([0, 100, 200])
      putVlan(200, 2, { observedGeneration: 2 })
      await until(trunks, [0, 200])
      await settle()
    })

    it('come to their port again when the host configures them, and the port gets back what it had', async () => {
      addRoutedVlan()
      start()
      put({ preserveVlanInterfaces: true })
      await until(ready, 'true')
      await settle()
      addVlan('eth1.100', '10.100.0.9/24')
      await until(() => has('eth1.100'), undefined)
      const both = ['10.100.0.2/24', '10.100.0.9/24', '10.98.0.0/16 via 10.100.0.1']
      await until(() => has('br-quay-vlan100'), both)
      expect(label()).toBe('true')
      await settle()
      ip('link', 'del', 'br-quay-vlan100')
      addInternal(node.host, 'br-quay-vlan100', vlanMac)
      await until(() => has('br-quay-vlan100'), both)
      await settle()
    })

    it.each([
      ['is down', false],
      ['was down for a moment', true],
    ])('and the bridge get back what Linux takes from a link that %s', async (_what, comesUp) => {
      addRoutedVlan()
      ip('route', 'add', '10.97.0.0/16', 'via', '10.99.0.1', 'dev', 'eth1')
      ip('addr', 'add', 'fd00:99::2/64', 'dev', 'eth1', 'nodad')
      ip('-6', 'route', 'add', 'fd00:97::/64', 'via', 'fd00:99::1', 'dev', 'eth1')
      start()
      put({ preserveVlanInterfaces: true })
      await until(ready, 'true')
      await settle()
      const ipv6 = () =>
        `${ip('-6', 'addr', 'show', 'br-quay')}${ip('-6', 'route', 'show', 'dev', 'br-quay')}`
      for (const link of ['br-quay', 'br-quay-vlan100']) {
        ip('link', 'set', link, 'down')
        if (comesUp) ip('link', 'set', link, 'up')
      }
      await until(() => has('br-quay'), ['10.99.0.2/24', '10.97.0.0/16 via 10.99.0.1'])
      await until(() => has('br-quay-vlan100'), moved)
      await vi.waitFor(() => expect(ipv6()).toMatch(/fd00:99::2\/64[^]*fd00:97::\/64 via fd00:99::1/))
      await settle()
      // What somebody takes away stays away.
      ip('route', 'del', '10.97.0.0/16', 'dev', 'br-quay')
      await settle()
      expect(has('br-quay')).toEqual(['10.99.0.2/24'])
    })

    it('are those that are named, as soon as they are there, for as long as they are named', async () => {
      addVlan('eth1.200', '10.200.0.2/24', '02:00:00:00:99:c8')
      start()
      put({ vlanInterfaces: ['eth1.100'] })
      await until(ready, 'true')
      expect(label()).toBeUndefined()
      addRoutedVlan()
      await until(() => has('br-quay-vlan100'), moved)
      await until(label, 'true')
      expect(has('eth1.200')).toEqual(['10.200.0.2/24'])
      put({ vlanInterfaces: ['eth1.200'] })
      await until(() => has('eth1.100'), moved)
      await until(() => has('br-quay-vlan200'), ['10.200.0.2/24'])
      await until(() => has('br-quay-vlan100'), undefined)
      expect(has('br-quay')).toEqual(['10.99.0.2/24'])
      await until(() => port('eth1'), { tag: undefined, trunks: [0, 200], source: undefined })
      await settle()
    })

    /** Lets the time of probation pass until the NIC is given back. */
    function untilTakenBack(clock: ManualClock): Promise<void> {
      return vi.waitFor(
        () => {
          clock.advance(11_000)
          expect(problem()).toContain('taken out of the bridge again')
        },
        { timeout: 20_000 },
      )
    }

    it('are given back with all of the NIC when the node does not reach by them what it did', async () => {
      const clock = new ManualClock()
      start(clock)
      put({ vlanInterfaces: ['eth1.100'] })
      await until(ready, 'true')
      node.ways.add('tcp:by-the-vlan')
      node.lostWays.add('tcp:by-the-vlan')
      addRoutedVlan()
      await untilTakenBack(clock)
      await until(() => has('eth1.100'), moved)
      await until(() => has('br-quay-vlan100'), undefined)
      expect(has('eth1')).toEqual(['10.99.0.2/24'])
    })

    it('are given back with what the host has given the NIC since', async () => {
      start()
      put({ preserveVlanInterfaces: true })
      await until(ready, 'true')
      await settle()
      await agent.stop()
      // As after a reboot: the host has configured all of it before the agent comes.
      ip('addr', 'add', '10.99.0.9/24', 'dev', 'eth1')
      addRoutedVlan()
      node.ways.add('tcp:by-the-vlan')
      node.lostWays.add('tcp:by-the-vlan')
      const clock = new ManualClock()
      start(clock)
      await untilTakenBack(clock)
      await until(() => has('eth1.100'), moved)
      await until(() => has('eth1'), ['10.99.0.2/24', '10.99.0.9/24'])
      expect(has('br-quay-vlan100')).toBeUndefined()
    })

    /** Does something the next time that the node is asked what it reaches: the NIC, or VLAN interfaces of it, are about to be moved. */
    function whileAsked(act: () => void): void {
      node.onAsked = () => {
        node.onAsked = () => undefined
        act()
      }
    }

    it('lose nothing that the host gives them while they are about to be moved', async () => {
      addVlan('eth1.100', '10.100.0.2/24')
      start()
      whileAsked(() => ip('route', 'add', '10.98.0.0/16', 'via', '10.100.0.1', 'dev', 'eth1.100'))
      put({ preserveVlanInterfaces: true })
      await until(() => has('br-quay-vlan100'), moved)
      await until(ready, 'true')
      await settle()
      whileAsked(() => ip('addr', 'add', '10.200.0.3/24', 'dev', 'eth1.200'))
      addVlan('eth1.200', '10.200.0.2/24', '02:00:00:00:99:c8')
      await until(() => has('br-quay-vlan200'), ['10.200.0.2/24', '10.200.0.3/24'])
      await until(() => has('eth1.200'), undefined)
      await settle()
      expect(has('br-quay-vlan100')).toEqual(moved)
    })

    it('keep nobody from looking after a NIC that is connected when one of them can not be kept', async () => {
      addRoutedVlan()
      start()
      put({ preserveVlanInterfaces: true })
      await until(ready, 'true')
      await settle()
      ip('link', 'add', 'br0', 'type', 'bridge')
      addVlan('eth1.200', '10.200.0.2/24', '02:00:00:00:99:c8')
      ip('link', 'set', 'eth1.200', 'master', 'br0')
      await vi.waitFor(() => expect(problem()).toContain('take it from br0'), { timeout: 20_000 })
      expect(ready()).toBe('true')
      node.vlans.put('sea', { metadata: { name: 'sea' }, spec: { id: 7, provider: 'quay' } })
      await until(() => port('eth1')?.trunks, [0, 7, 100])
      for (const [link, address] of [['br-quay', mac] as const, ['br-quay-vlan100', vlanMac] as const]) {
        ip('link', 'del', link)
        addInternal(node.host, link, address)
      }
      await until(() => has('br-quay'), ['10.99.0.2/24'])
      await until(() => has('br-quay-vlan100'), moved)
      expect(has('eth1.200')).toEqual(['10.200.0.2/24'])
      ip('link', 'set', 'eth1.200', 'nomaster')
      await until(() => has('br-quay-vlan200'), ['10.200.0.2/24'])
      await until(problem, undefined)
      await settle()
    })

    it('are kept where bridge and NIC have the other’s name, and given back to the NIC of old', async () => {
      addRoutedVlan()
      start()
      put({ preserveVlanInterfaces: true, exchangeLinkName: true })
      await until(ready, 'true')
      expect(has('eth1-vlan100')).toEqual(moved)
      expect(has('eth1')).toEqual(['10.99.0.2/24'])
      expect(port('br-quay')).toMatchObject({ trunks: [0, 100] })
      node.networks.put('quay', undefined)
      await until(() => has('eth1.100'), moved)
      await until(() => has('br-quay'), undefined)
      await until(() => has('eth1-vlan100'), undefined)
      await settle()
      expect(has('eth1')).toEqual(['10.99.0.2/24'])
      expect(ip('link', 'show', 'eth1.100')).toContain('eth1.100@eth1')
    })

    it('are no obstacle to the network alone: who depends on them is told', async () => {
      addVlan('eth1.100', '10.100.0.2/24')
      ip('link', 'add', 'br0', 'type', 'bridge')
      ip('link', 'set', 'eth1.100', 'master', 'br0')
      start()
      put({ preserveVlanInterfaces: true })
      await vi.waitFor(() => expect(problem()).toContain('take it from br0'), { timeout: 20_000 })
      expect(has('eth1')).toEqual(['10.99.0.2/24'])
      ip('link', 'set', 'eth1.100', 'nomaster')
      await until(() => has('br-quay-vlan100'), ['10.100.0.2/24'])
    })

    it('are made to be the NIC where they are missing, and go with the network, unless they are to be preserved', async () => {
      start()
      put({ defaultInterface: 'eth1.100', autoCreateVlanSubinterfaces: true })
      await until(ready, 'true')
      expect(ip('-d', 'link', 'show', 'eth1.100')).toContain('alias kube-ovn:quay')
      put({ defaultInterface: 'eth1.200', autoCreateVlanSubinterfaces: true, preserveVlanInterfaces: true })
      await until(() => port('eth1.200') !== undefined && ready() === 'true', true)
      await until(() => has('eth1.100'), undefined)
      await settle()
      node.networks.put('quay', undefined)
      await until(() => port('eth1.200'), undefined)
      await until(ready, undefined)
      await settle()
      expect(has('eth1.200')).toEqual([])
      expect(has('eth1')).toEqual(['10.99.0.2/24'])
    })

    it('are none that are NICs of other networks, whatever their names', async () => {
      start()
      put({ preserveVlanInterfaces: true })
      await until(ready, 'true')
      node.networks.put('pier', {
        metadata: { name: 'pier', generation: 1 },
        spec: { defaultInterface: 'eth1.100', autoCreateVlanSubinterfaces: true, exchangeLinkName: true },
      })
      await until(() => port('br-pier')?.trunks, [0])
      await settle()
      expect(port('br-quay-vlan100')).toBeUndefined()
      expect(port('eth1')?.trunks).toEqual([0])
      expect(has('br-pier')).toEqual([])
    })

    it('are made to be the NIC under the name of the bridge, too', async () => {
      start()
      put({ defaultInterface: 'eth1.100', autoCreateVlanSubinterfaces: true, exchangeLinkName: true })
      await until(ready, 'true')
      await settle()
      expect(ready()).toBe('true')
      expect(ip('link', 'show', 'br-quay')).toContain('alias kube-ovn:quay')
      node.networks.put('quay', undefined)
      await until(() => has('br-quay'), undefined)
      await until(() => has('eth1.100'), undefined)
      await settle()
      expect(has('eth1')).toEqual(['10.99.0.2/24'])
    })
  },
)
