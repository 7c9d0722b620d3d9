import { readdirSync, readlinkSync } from 'node:fs'
import { ovnEipLabel, podAnnotations, sharedGatewayLabel } from '@kube-ovn/annotations'
import { BfdMonitor } from '@kube-ovn/bgp/bfd'
import type { OvnEip } from '@kube-ovn/kube-api'
import { silentLogger } from '@kube-ovn/log'
import { openNetlink, readSysctl } from '@kube-ovn/netlink'
import { systemClock } from '@kube-ovn/process'
import { missingForNamespaces, openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { ManualClock } from '@kube-ovn/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { playVswitchd } from '../testing/play-vswitchd.ts'
import { nodeOf, subnetOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('ip', 'ping')

const keys = podAnnotations()
/** So that it is known what all features want. */
const allocation = {
  [keys.allocated.key]: 'true',
  [keys.ipAddress.key]: '100.64.0.2',
  [keys.macAddress.key]: '00:00:00:00:64:02',
  [keys.cidr.key]: '100.64.0.0/16',
  [keys.gateway.key]: '100.64.0.1',
}
const mac = '00:00:00:05:cc:0a'
/** Of the node, of the router of a VPC beside it, of the gateway, and one that is beyond that. */
const own = { v4: '10.5.204.10', v6: 'fd00:5:cc::a' }
const router = { v4: '10.5.204.200', v6: 'fd00:5:cc::c8' }
const gateway = { v4: '10.5.204.254', v6: 'fd00:5:cc::fe' }
const beyond = { v4: '203.0.113.1', v6: '2001:db8:7::1' }
const families = ['v4', 'v6'] as const

function eipOf(name: string, type: 'lsp' | 'lrp', { v4, v6 }: { v4: string; v6: string }): OvnEip {
  return {
    metadata: { name, labels: { [ovnEipLabel.subnet]: 'external', [ovnEipLabel.type]: type } },
    status: { type, v4Ip: v4, v6Ip: v6, macAddress: mac, ready: type === 'lrp' },
  }
}

describe.skipIf(missing)(
  `the NIC of an OvnEip of the node${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let node: TestNode
    let clock: ManualClock
    let agent: TestAgent
    let vpc: TestNamespace
    let outside: TestNamespace
    let stack: DisposableStack

    beforeEach(async () => {
      stack = new DisposableStack()
      clock = new ManualClock()
      node = await TestNode.start()
      await node.database.vsctl('add-br', 'br-int')
      playVswitchd(node)
      const network = stack.use(openTestNetwork())
      vpc = network.namespace('vpc')
      outside = network.namespace('outside')
      // What OVN and the physical network are otherwise: all are on one link, which the router has its own way to.
      node.host.run('ip', 'link', 'add', 'wire', 'type', 'bridge')
      node.host.run('ip', 'link', 'set', 'wire', 'up')
      connect(network, vpc, 'eth0', router)
      connect(network, outside, 'eth0', gateway)
      for (const family of families) {
        vpc.run('ip', 'route', 'add', beyond[family], 'via', own[family])
        outside.run('ip', 'addr', 'add', beyond[family], 'dev', 'lo', ...(family === 'v6' ? ['nodad'] : []))
      }
      node.nodes.put('n1', nodeOf('n1', '192.0.2.10', allocation))
      node.host.run('ip', 'link', 'add', 'phys1', 'mtu', '1400', 'type', 'bridge')
      node.networks.put('sea', { metadata: { name: 'sea' }, spec: { defaultInterface: 'phys1' } })
      node.vlans.put('v0', { metadata: { name: 'v0' }, spec: { id: 0, provider: 'sea' } })
      node.subnets.put('external', external(`${gateway.v4},${gateway.v6}`))
      node.ovnEips.put('ferry-external', eipOf('ferry-external', 'lrp', router))
      agent = node.startAgent({}, clock)
    })
    afterEach(async () => {
      await node?.[Symbol.asyncDispose]()
      stack.dispose()
    })

    function external(gateways: string): ReturnType<typeof subnetOf> {
      const cidrBlock = '10.5.204.0/24,fd00:5:cc::/64'
      return subnetOf('external', { cidrBlock, gateway: gateways, vlan: 'v0' })
    }

    function connect(
      network: ReturnType<typeof openTestNetwork>,
      namespace: TestNamespace,
      name: string,
      { v4, v6 }: { readonly v4: string; readonly v6: string },
    ): void {
      const host = `${namespace.name.split('-').at(-1) ?? ''}0`
      const ends = { namespace, name, addresses: [`${v4}/24`, `${v6}/64`] }
      network.connect(ends, { namespace: node.host, name: host })
      node.host.run('ip', 'link', 'set', host, 'master', 'wire')
    }

    /** Does what ovn-controller and vswitchd do. */
    async function install(): Promise<void> {
      await expect.poll(() => hostEnd() !== undefined && port()?.name === hostEnd()).toBe(true)
      const name = hostEnd() ?? ''
      node.host.run('ip', 'link', 'set', name, 'master', 'wire')
      await node.database.vsctl('set', 'Interface', name, 'external_ids:ovn-installed=true')
    }

    function port() {
      return node.ovs.cache.find('Interface', 'external_ids:iface-id', 'n1')[0]
    }

    function hostEnd(): string | undefined {
      using host = openNetlink({ netns: node.host.path })
      return host.links().find(({ name }) => name.startsWith('ovnext0_'))?.name
    }

    function label(): string | undefined {
      return node.nodes.store.get('n1')?.metadata.labels?.[sharedGatewayLabel]
    }

    /** The namespace that the agent holds, which is this process here. */
    function home(): string {
      const namespaces = readdirSync('/proc/self/fd').flatMap((fd) => {
        const path = `/proc/self/fd/${fd}`
        return linkOf(path).startsWith('net:') ? [path] : []
      })
      const found = namespaces.find((path) => {
        using inside = openNetlink({ netns: path })
        return inside.link('ovnext0') !== undefined
      })
      return found ?? expect.unreachable('no descriptor is of the namespace')
    }

    async function reaches(): Promise<void> {
      for (const family of families)
        await expect.poll(() => answers(beyond[family]), { timeout: 30_000 }).toBe(true)
    }

    function answers(address: string): boolean {
      try {
        vpc.run('ping', '-c', '1', '-W', '2', address)
        return true
      } catch {
        return false
      }
    }

    it('forwards what the router sends it to the gateway, and is told of by a label once that has answered', async () => {
      expect(await agent.settle()).toEqual([])
      expect([hostEnd(), port(), label()]).toEqual([undefined, undefined, undefined])
      node.ovnEips.put('n1', eipOf('n1', 'lsp', own))
      await install()
      await expect.poll(label).toBe('true')
      expect(await agent.settle()).toEqual([])
      expect(port()).toMatchObject({
        type: '',
        external_ids: { 'iface-id': 'n1', ip: `${own.v4},${own.v6}`, vendor: 'kube-ovn' },
      })
      // The way back is the router's own: what it forwards has its source.
      await reaches()
      const path = home()
      using inside = openNetlink({ netns: path })
      expect(inside.link('ovnext0')).toMatchObject({ mac, mtu: 1400, isUp: true })
      expect(readSysctl(path, 'ipv4/conf/ovnext0/send_redirects')).toBe('0')
      using host = openNetlink({ netns: node.host.path })
      expect(host.routes().some(({ gateway: by }) => by === gateway.v4)).toBe(false)

      node.ovnEips.put('n1', undefined)
      await expect.poll(() => [hostEnd(), port()]).toEqual([undefined, undefined])
      expect(await agent.settle()).toEqual([])
      expect(label()).toBe('false')
    })

    it('answers routers by BFD, each as long as there is one, and tells them when the agent ends', async () => {
      node.ovnEips.put('n1', eipOf('n1', 'lsp', own))
      await install()
      await expect.poll(label).toBe('true')
      const lost: string[] = []
      const asking = new BfdMonitor(
        [own.v4, own.v6],
        { minTxMs: 100, minRxMs: 100, multiplier: 3 },
        {
          ...{ clock: systemClock, log: silentLogger, random: Math.random, netns: vpc.path },
          sourceFor: (address) => (address.includes(':') ? router.v6 : router.v4),
          lost: (address) => void lost.push(address),
          reached: () => undefined,
        },
      )
      stack.use(asking)
      await asking.start()
      const states = (): unknown => [own.v4, own.v6].map((address) => asking.statusOf(address)?.state)
      /** What it waits for, it waits for by the agent's clock. */
      const untilStates = async (...wanted: readonly string[]): Promise<void> => {
        await expect
          .poll(
            () => {
              clock.advance(50)
              return states()
            },
            { interval: 50 },
          )
          .toEqual(wanted)
      }
      await untilStates('up', 'up')
      // Another router, which says nothing, is told nothing, and costs no session.
      node.ovnEips.put('other', eipOf('other', 'lrp', { v4: '10.5.204.201', v6: 'fd00:5:cc::c9' }))
      expect(await agent.settle()).toEqual([])
      node.ovnEips.put('ferry-external', undefined)
      await untilStates('down', 'down')
      node.ovnEips.put('ferry-external', eipOf('ferry-external', 'lrp', router))
      await untilStates('up', 'up')
      await agent.stop()
      await expect
        .poll(() => [own.v4, own.v6].map((address) => asking.statusOf(address)?.remoteState))
        .toEqual(['admin-down', 'admin-down'])
      // That is no failure of the way, and nothing was before.
      expect(lost).toEqual([])
    })

    it('is put right, and made anew by an agent that starts, which writes nothing where others look', async () => {
      node.ovnEips.put('n1', eipOf('n1', 'lsp', own))
      await install()
      await expect.poll(label).toBe('true')
      {
        using inside = openNetlink({ netns: home() })
        const index = inside.link('ovnext0')?.index ?? 0
        inside.removeAddress(index, `${own.v4}/24`)
        for (const route of inside.routes({ index }))
          if (route.gateway !== undefined) inside.removeRoute(route)
        await expect
          .poll(() => [inside.addresses(index), inside.routes({ index })])
          .toEqual([
            expect.arrayContaining([expect.objectContaining({ cidr: `${own.v4}/24` })]),
            expect.arrayContaining([
              expect.objectContaining({ gateway: gateway.v4 }),
              expect.objectContaining({ gateway: gateway.v6 }),
            ]),
          ])
      }
      await reaches()
      node.host.run('ip', 'link', 'del', hostEnd() ?? '')
      await install()
      await reaches()
      const { patches } = node
      await agent.stop()
      // It went with the namespace, which nobody holds any more.
      await expect.poll(hostEnd).toBeUndefined()
      agent = node.startAgent({}, clock)
      await install()
      await reaches()
      expect(await agent.settle()).toEqual([])
      expect([node.patches, label()]).toEqual([patches, 'true'])
      expect(
        [...node.ovs.cache.scan('Interface')].filter(({ name }) => name.startsWith('ovnext0_')),
      ).toHaveLength(1)
    })

    it('is not told of while a gateway is silent, or the flows of its port are not there', async () => {
      node.subnets.put('external', external('10.5.204.253'))
      node.ovnEips.put('n1', eipOf('n1', 'lsp', own))
      await install()
      expect(await agent.settle()).toEqual([])
      expect(label()).toBeUndefined()
      clock.advance(20_000)
      expect(await agent.settle()).toEqual([])
      expect(label()).toBe('false')
      node.subnets.put('external', external(`${gateway.v4},${gateway.v6}`))
      await expect.poll(label).toBe('true')
      await node.database.vsctl('remove', 'Interface', hostEnd() ?? '', 'external_ids', 'ovn-installed')
      expect(await agent.settle()).toEqual([])
      // A restart of OVS takes less than what it waits for.
      expect(label()).toBe('true')
      clock.advance(20_000)
      expect(await agent.settle()).toEqual([])
      expect(label()).toBe('false')
    })

    it.each([
      [
        'has no address yet',
        () => node.ovnEips.put('n1', { metadata: { name: 'n1' }, spec: { type: 'lsp' } }),
      ],
      ['is of a Subnet on no Vlan', () => node.subnets.put('external', subnetOf('external', {}))],
      ['is of a Vlan that is not there', () => node.vlans.put('v0', undefined)],
      ['is of a network that the node is not connected to', () => node.networks.put('sea', undefined)],
      ['is of another type', () => node.ovnEips.put('n1', eipOf('n1', 'lrp', own))],
    ])('is not there while the OvnEip %s', async (_what, spoil) => {
      node.ovnEips.put('n1', eipOf('n1', 'lsp', own))
      spoil()
      expect(await agent.settle()).toEqual([])
      expect([hostEnd(), port(), label()]).toEqual([undefined, undefined, undefined])
    })
  },
)

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It was the descriptor of the reading itself.
    return ''
  }
}
