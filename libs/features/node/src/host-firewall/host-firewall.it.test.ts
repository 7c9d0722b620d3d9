import type { FragmentKernel } from '@kube-ovn/fragments'
import type { Subnet } from '@kube-ovn/kube-api'
import type { Node, ServiceCidr } from '@kube-ovn/kube-api/core'
import { silentLogger } from '@kube-ovn/log'
import { openNetfilter, type Netfilter } from '@kube-ovn/netfilter'
import { systemClock } from '@kube-ovn/process'
import { fragmentMetrics, Registry } from '@kube-ovn/telemetry'
import { missingForNamespaces, openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNodeKernel } from '../node-kernel.ts'
import { Objects } from '../testing/objects.ts'

const missing = missingForNamespaces('nft')

describe.skipIf(missing)(`the packet filter of a node${missing === undefined ? '' : ` (${missing})`}`, () => {
  let stack: AsyncDisposableStack
  let host: TestNamespace
  let netfilter: Netfilter
  let settings: Map<string, string>
  let nodes: Objects<Node>
  let subnets: Objects<Subnet>
  let serviceCidrs: Objects<ServiceCidr>
  let registry: Registry

  beforeEach(() => {
    stack = new AsyncDisposableStack()
    host = stack.use(openTestNetwork()).namespace('host')
    netfilter = openNetfilter({ netns: host.path })
    settings = new Map()
    nodes = new Objects()
    subnets = new Objects()
    serviceCidrs = new Objects()
    nodes.put('n1', nodeOf('n1', '192.0.2.10'))
    nodes.put('n2', nodeOf('n2', '192.0.2.11'))
    subnets.put('blue', subnetOf('blue', { cidrBlock: '10.16.0.0/16', natOutgoing: true }))
  })
  afterEach(() => stack.disposeAsync())

  function start(): FragmentKernel {
    registry = new Registry()
    const kernel = stack.use(
      createNodeKernel({
        ...{ clock: systemClock, log: silentLogger, random: () => 0, metrics: fragmentMetrics(registry) },
        agent: { nodeName: 'n1', clusterRouter: 'ovn-cluster', fallbackServicePrefixes: ['10.96.0.0/12'] },
        ...{ nodes, subnets, serviceCidrs, netfilter },
        sysctls: {
          readSysctl: (key) => settings.get(key) ?? '0',
          writeSysctl: (key, value) => void settings.set(key, value),
        },
      }),
    )
    kernel.start()
    return kernel
  }

  /** Nothing was missed: looking at everything from the beginning finds nothing. */
  async function settle(kernel: FragmentKernel): Promise<void> {
    await kernel.quiet()
    expect(await kernel.recomputeAll()).toEqual([])
  }

  async function writes(): Promise<number> {
    const metrics = await registry.getMetricsAsJSON()
    const found = metrics.find(({ name }) => name === 'kube_ovn_node_writes_total')
    return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0)
  }

  it('is made, follows the objects, and a restart writes nothing', async () => {
    const first = start()
    await settle(first)
    expect(host.run('nft', 'list', 'table', 'inet', 'kube-ovn')).toContain('192.0.2.11')
    // What is as it should be is not written: rp_filter is 0.
    expect([...settings]).toEqual([['ipv4/ip_forward', '1']])
    expect(await writes()).toBe(2)
    subnets.put('green', subnetOf('green', { cidrBlock: 'fd00:10:17::/112' }))
    await settle(first)
    expect(host.run('nft', 'list', 'set', 'inet', 'kube-ovn', 'subnets-6')).toContain('fd00:10:17::/112')
    expect(settings.get('ipv6/conf/all/forwarding')).toBe('1')
    expect(await writes()).toBe(4)
    await first[Symbol.asyncDispose]()
    const second = start()
    await settle(second)
    expect(await writes()).toBe(0)
  })

  it('is not looked at for what does not concern it', async () => {
    const kernel = start()
    await settle(kernel)
    let calls = 0
    const { hasDrifted } = netfilter
    netfilter.hasDrifted = (table) => {
      calls++
      return hasDrifted.call(netfilter, table)
    }
    const blue = subnets.store.get('blue')
    const counted = { ...blue, metadata: { name: 'blue', resourceVersion: '7' } } as Subnet
    subnets.put('blue', counted)
    subnets.put('grey', subnetOf('grey', { cidrBlock: '10.99.0.0/16', vpc: 'other' }))
    nodes.put('n2', { ...nodeOf('n2', '192.0.2.11'), metadata: { name: 'n2', resourceVersion: '8' } })
    await kernel.quiet()
    expect(calls).toBe(0)
  })

  it('is put right when somebody touches it, and what others have stays', async () => {
    const kernel = start()
    await settle(kernel)
    host.run('nft', 'add', 'table', 'ip', 'foreign')
    host.run('nft', 'flush', 'chain', 'inet', 'kube-ovn', 'drop-stray-resets')
    await expect
      .poll(() => host.run('nft', 'list', 'chain', 'inet', 'kube-ovn', 'drop-stray-resets'))
      .toContain('stray reset of a pod')
    host.run('nft', 'delete', 'table', 'inet', 'kube-ovn')
    await expect.poll(() => host.run('nft', 'list', 'tables')).toContain('table inet kube-ovn')
    await settle(kernel)
    expect(host.run('nft', 'list', 'tables')).toContain('table ip foreign')
  })

  it('is not touched before the node is known', async () => {
    const own = nodes.store.get('n1')
    nodes.put('n1', undefined)
    host.run('nft', 'add', 'table', 'inet', 'kube-ovn')
    const kernel = start()
    await settle(kernel)
    expect([host.run('nft', 'list', 'tables').trim(), [...settings], await writes()]).toEqual([
      'table inet kube-ovn',
      [],
      0,
    ])
    nodes.put('n1', own)
    await settle(kernel)
    expect(host.run('nft', 'list', 'table', 'inet', 'kube-ovn')).toContain('192.0.2.11')
  })
})

function nodeOf(name: string, address: string): Node {
  return { metadata: { name }, status: { addresses: [{ type: 'InternalIP', address }] } }
}

function subnetOf(name: string, inEffect: NonNullable<NonNullable<Subnet['status']>['inEffect']>): Subnet {
  return { metadata: { name }, status: { inEffect } }
}
