import { setTimeout as delay } from 'node:timers/promises'
import { findColumn, lossDuring, ofStack, ovnCentral, type Cluster, type WatchedPath } from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { behind, EditedNetworks, prefixes } from './edited-networks.ts'
import { lostByEdits } from './lost-by-edits.ts'
import { RenumberedNode } from './renumbered-node.ts'
import type { SuiteLab } from './suite-lab.ts'

/** Between two packets of a path. */
const intervalMs = 20

/** For as long as nodes may take to follow what they are told last. */
const followMs = 1_000

const patience = { timeout: 60_000, interval: 200 }
const limit = 300_000

/** Tests what edits of subnets and VPCs do to packets that they are about, and that they do nothing to others. */
export function testEditsUnderTraffic(lab: SuiteLab): void {
  let cluster: Cluster
  let networks: EditedNetworks
  /** Of these Subnets. */
  let stranger: readonly string[]
  let friend: readonly string[]

  beforeAll(async () => {
    ;({ cluster } = lab)
    stranger = inStack(prefixes.stranger)
    friend = inStack(prefixes.friend)
    networks = await EditedNetworks.create(cluster)
  })

  afterAll(() => networks.delete())

  /** Those of the families that the cluster has. */
  function inStack(pair: Parameters<typeof ofStack>[1]): readonly string[] {
    return ofStack(cluster.topology.stack, pair)
  }

  /** What is seen in each family when it is the same in all. */
  function inEach(value: string): readonly string[] {
    return inStack({ ipv4: value, ipv6: value })
  }

  /** What was lost meanwhile of what no edit forbids, as text. Of what is forbidden for a while something must be lost, too. */
  async function lostDuring(
    work: () => Promise<void>,
    forbidden: readonly WatchedPath[] = [],
    paths: readonly WatchedPath[] = networks.paths(),
  ): Promise<readonly string[]> {
    const names = forbidden.map(({ name }) => name)
    const others = paths.filter(({ name }) => !names.includes(name))
    const losses = await lossDuring(
      [...others, ...forbidden],
      async () => {
        await work()
        await delay(followMs)
      },
      intervalMs,
    )
    expect(losses.filter(({ name, lost }) => names.includes(name) && lost > 0)).toHaveLength(names.length)
    return lostByEdits(losses.filter(({ name }) => !names.includes(name)))
  }

  async function untilSees(pod: string, outcome: string): Promise<void> {
    await expect.poll(() => networks.gateAnswers(pod), patience).toEqual(inEach(outcome))
  }

  async function untilStrangerSees(outcome: string): Promise<void> {
    await untilSees('stranger', outcome)
  }

  async function untilLeavesBy(pod: string, node: string): Promise<void> {
    await expect.poll(() => networks.leavesBy(pod), patience).toEqual(inEach(node))
  }

  async function untilBehindAnswers(...names: readonly string[]): Promise<void> {
    await untilAnswered('left', ...names)
  }

  /** Until all of some are who answers a pod at the address that no Subnet has, and nobody else. */
  async function untilAnswered(pod: string, ...names: readonly string[]): Promise<void> {
    const wanted = inStack(behind).flatMap((address) => names.map((name) => `${address} ${name}`))
    await expect
      .poll(() => networks.behindAnswers(pod, names.length * 8), patience)
      .toEqual(wanted.toSorted())
  }

  it('keep others out of a private subnet, but for those that it lists', { timeout: limit }, async () => {
    // It is kept from other networks in both directions.
    const outward = networks.paths().filter(({ name }) => name.startsWith('gate to outside'))
    const lost = await lostDuring(async () => {
      await untilStrangerSees('reached')
      await networks.editSubnet('home', { private: true, allowSubnets: friend })
      await untilStrangerSees('no answer')
      await networks.editSubnet('home', { allowSubnets: [...friend, ...stranger] })
      await untilStrangerSees('reached')
      await networks.editSubnet('home', { allowSubnets: friend })
      await untilStrangerSees('no answer')
      await networks.editSubnet('home', { private: false, allowSubnets: null })
      await untilStrangerSees('reached')
    }, [...networks.strangerPaths(), ...outward])
    expect(lost).toEqual([])
  })

  it('judge packets by the ACL of the highest priority', { timeout: limit }, async () => {
    const acls = (priority: number, action: string): readonly object[] =>
      stranger.map((prefix) => ({
        action,
        direction: 'to-lport',
        priority,
        match: `ip${prefix.includes(':') ? '6' : '4'}.src == ${prefix}`,
      }))
    const drop = acls(1100, 'drop')
    const lost = await lostDuring(async () => {
      await networks.editSubnet('home', { acls: drop })
      await untilStrangerSees('no answer')
      await networks.editSubnet('home', { acls: [...drop, ...acls(1200, 'allow-related')] })
      await untilStrangerSees('reached')
      await networks.editSubnet('home', {
        acls: [...drop, ...acls(1200, 'allow-related'), ...acls(1300, 'reject')],
      })
      await untilStrangerSees('ECONNREFUSED')
      await networks.editSubnet('home', { acls: [...drop, ...acls(1050, 'allow-related')] })
      await untilStrangerSees('no answer')
      await networks.editSubnet('home', { acls: null })
      await untilStrangerSees('reached')
    }, networks.strangerPaths())
    expect(lost).toEqual([])
  })

  it('give packets the source of their node, or leave it', { timeout: limit }, async () => {
    // What stays in the cluster keeps its source, whatever the edits of its Subnet.
    const paths = [...networks.paths(), ...networks.strangerPaths()]
    const [, second = ''] = cluster.nodes.map(({ name }) => name)
    const outside = inStack(cluster.outside.addresses)
    const lost = await lostDuring(
      async () => {
        await untilLeavesBy('stranger', second)
        // The outside host knows no way back to pods.
        await networks.editSubnet('stranger', { natOutgoing: false })
        await untilLeavesBy('stranger', 'nobody')
        await networks.editSubnet('stranger', { natOutgoing: true })
        await untilLeavesBy('stranger', second)
        await networks.editSubnet('stranger', {
          natOutgoingPolicyRules: outside.map((dstIPs) => ({ action: 'forward', match: { dstIPs } })),
        })
        await untilLeavesBy('stranger', 'nobody')
        await networks.editSubnet('stranger', { natOutgoingPolicyRules: null })
        await untilLeavesBy('stranger', second)
      },
      [],
      paths,
    )
    expect(lost).toEqual([])
  })

  it('move traffic to gateways and back', { timeout: limit }, async () => {
    const [first = '', second = ''] = cluster.nodes.map(({ name }) => name)
    const lost = await lostDuring(async () => {
      await untilLeavesBy('gate', second)
      await networks.editSubnet('home', { gatewayType: 'centralized', gatewayNode: first })
      await untilLeavesBy('gate', first)
      await networks.editSubnet('home', { gatewayNode: second })
      await untilLeavesBy('gate', second)
      // It stays where it is while that is among them.
      await networks.editSubnet('home', { gatewayNode: `${first},${second}` })
      await networks.editSubnet('home', { gatewayNode: first })
      await untilLeavesBy('gate', first)
      await networks.editSubnet('home', { gatewayType: 'distributed', gatewayNode: null })
      await untilLeavesBy('gate', second)
      await untilLeavesBy('home', first)
    })
    expect(lost).toEqual([])
  })

  it('follow a node to other addresses, and back', { timeout: limit }, async () => {
    const [, second] = cluster.nodes
    if (second === undefined) expect.unreachable('there are two nodes')
    const central = await ovnCentral(cluster)
    const led = async (): Promise<string> =>
      (await findColumn(central, 'Logical_Router_Policy', 'match', 'priority=30000')).join()
    const before = await led()
    const lost = await lostDuring(async () => {
      await using moved = await RenumberedNode.begin(cluster, second)
      const pods = ['home', 'gate'].flatMap((pod) => networks.addressesOf(pod))
      await expect.poll(() => moved.answered(pods), patience).toEqual(pods)
      for (const pod of ['home', 'gate'])
        expect(await moved.reachedFrom(networks.placeOf(pod))).toBe(moved.addresses.length)
      for (const address of moved.addresses) expect(await led()).toContain(address)
      await moved[Symbol.asyncDispose]()
      await expect.poll(led, patience).toBe(before)
    })
    expect(lost).toEqual([])
  })

  it('let pods of a subnet reach each other in spite of its ACLs', { timeout: limit }, async () => {
    // The router's port is one of those that rules are about: what leaves the subnet has another destination.
    const drops = (priority: number, who: 'home' | 'stranger'): readonly object[] =>
      inStack(prefixes[who]).map((source, index) => {
        const ip = `ip${source.includes(':') ? '6' : '4'}`
        const match = `${ip}.src == ${source} && ${ip}.dst == ${inStack(prefixes.home)[index]}`
        return { action: 'drop', direction: 'to-lport', priority, match }
      })
    const acls = [...drops(1100, 'home'), ...drops(1100, 'stranger')]
    const untilSee = async (home: string, stranger: string): Promise<void> => {
      await untilSees('home', home)
      await untilSees('stranger', stranger)
    }
    const inside = networks.paths().filter(({ name }) => name.startsWith('home to gate'))
    const allowed = await lostDuring(async () => {
      await networks.editSubnet('home', { acls, allowEWTraffic: true })
      await untilSee('reached', 'no answer')
    }, networks.strangerPaths())
    const lost = await lostDuring(async () => {
      await networks.editSubnet('home', { allowEWTraffic: false })
      await untilSee('no answer', 'no answer')
      await networks.editSubnet('home', { allowEWTraffic: true })
      await untilSee('reached', 'no answer')
      // What is let through inside has a priority, too.
      await networks.editSubnet('home', { acls: [...acls, ...drops(2000, 'home')] })
      await untilSee('no answer', 'no answer')
      await networks.editSubnet('home', { acls: null, allowEWTraffic: null })
      await untilSee('reached', 'reached')
    }, [...networks.strangerPaths(), ...inside])
    expect([...allowed, ...lost]).toEqual([])
  })

  it('tell ports what they may ask for', { timeout: limit }, async () => {
    const central = await ovnCentral(cluster)
    const [cidrBlock = ''] = inStack(prefixes.home)
    const cidr = `cidr="${cidrBlock}"`
    const isV6 = cidrBlock.includes(':')
    const untilTold = async (option: string): Promise<void> => {
      await expect
        .poll(async () => (await findColumn(central, 'DHCP_Options', 'options', cidr)).join(), patience)
        .toContain(option)
    }
    const lost = await lostDuring(async () => {
      await networks.editSubnet('home', { enableDHCP: true, enableIPv6RA: true, enableMulticastSnoop: true })
      await untilTold(isV6 ? 'server_id=' : 'lease_time=3600')
      await networks.editSubnet(
        'home',
        isV6
          ? { dhcpV6Options: 'server_id=00:00:00:00:47:01' }
          : { dhcpV4Options: 'lease_time=1200,router=10.47.0.1,server_id=169.254.0.254' },
      )
      await untilTold(isV6 ? 'server_id=00:00:00:00:47:01' : 'lease_time=1200')
      await networks.editSubnet('home', {
        ...{ enableDHCP: false, enableIPv6RA: false, enableMulticastSnoop: false },
        ...{ dhcpV4Options: null, dhcpV6Options: null },
      })
      await expect.poll(() => findColumn(central, 'DHCP_Options', 'options', cidr), patience).toEqual([])
    })
    expect(lost).toEqual([])
  })

  /** Routes of each family over a hop. */
  const routesOver = (
    hop: string,
    cidrs: { ipv4: string; ipv6: string },
    more: object = {},
  ): readonly object[] =>
    networks
      .addressesOf(hop)
      .map((nextHopIP) => ({ cidr: nextHopIP.includes(':') ? cidrs.ipv6 : cidrs.ipv4, nextHopIP, ...more }))

  /** Until each of two pods, of a subnet each, is answered by whom it should be. */
  async function untilTaken(left: string, centre: string): Promise<void> {
    await Promise.all([untilAnswered('left', left), untilAnswered('centre', centre)])
  }

  const toBehind = { ipv4: `${behind.ipv4}/32`, ipv6: `${behind.ipv6}/128` }

  it('send what is for elsewhere over one hop, over two, or nowhere', { timeout: limit }, async () => {
    const routes = (hop: string): readonly object[] => routesOver(hop, toBehind, { policy: 'policyDst' })
    const policies = (priority: number, action: string, hop?: string): readonly object[] =>
      inStack(behind).map((address) => {
        const isV6 = address.includes(':')
        const nextHopIP =
          hop === undefined ? undefined : networks.addressesOf(hop).find((ip) => ip.includes(':') === isV6)
        return { priority, match: `ip${isV6 ? '6' : '4'}.dst == ${address}`, action, nextHopIP }
      })
    const lost = await lostDuring(async () => {
      await networks.editVpc({ spec: { staticRoutes: routes('right-1') } })
      await untilBehindAnswers('right-1')
      await networks.editVpc({ spec: { staticRoutes: [...routes('right-1'), ...routes('right-2')] } })
      await untilBehindAnswers('right-1', 'right-2')
      await networks.editVpc({
        metadata: { labels: { tier: 'gold' }, annotations: { purpose: 'to be edited' } },
        spec: { policyRoutes: policies(32_000, 'reroute', 'right-2') },
      })
      await untilBehindAnswers('right-2')
      await networks.editVpc({
        spec: { policyRoutes: [...policies(32_000, 'reroute', 'right-2'), ...policies(32_001, 'drop')] },
      })
      await untilBehindAnswers('nobody')
      await networks.editVpc({ spec: { policyRoutes: null } })
      await untilBehindAnswers('right-1', 'right-2')
      await networks.editVpc({ spec: { staticRoutes: null } })
      await untilBehindAnswers('nobody')
    })
    expect(lost).toEqual([])
  })

  it('send it by where it comes from', { timeout: limit }, async () => {
    const all = { ipv4: '0.0.0.0/0', ipv6: '::/0' }
    const policyRoutes = networks.addressesOf('right-2').map((nextHopIP) => {
      const match = nextHopIP.includes(':')
        ? `ip6.src == ${prefixes.left.ipv6} && ip6.dst == ${behind.ipv6}`
        : `ip4.src == ${prefixes.left.ipv4} && ip4.dst == ${behind.ipv4}`
      return { priority: 32_000, match, action: 'reroute', nextHopIP }
    })
    const lost = await lostDuring(async () => {
      const byAll = routesOver('right-1', all)
      await networks.editVpc({ spec: { staticRoutes: byAll } })
      await untilTaken('right-1', 'right-1')
      const bySource = [...byAll, ...routesOver('right-2', prefixes.left, { policy: 'policySrc' })]
      await networks.editVpc({ spec: { staticRoutes: bySource } })
      await untilTaken('right-2', 'right-1')
      // Of a source and a destination the longer prefix counts.
      await networks.editVpc({ spec: { staticRoutes: [...bySource, ...routesOver('right-1', toBehind)] } })
      await untilTaken('right-1', 'right-1')
      await networks.editVpc({ spec: { policyRoutes } })
      await untilTaken('right-2', 'right-1')
      await networks.editVpc({ spec: { staticRoutes: null, policyRoutes: null } })
    })
    expect(lost).toEqual([])
  })

  it('send it by the route table of the subnet that it comes from', { timeout: limit }, async () => {
    const main = routesOver('right-1', toBehind)
    const aside = routesOver('right-2', toBehind, { routeTable: 'aside' })
    const lost = await lostDuring(async () => {
      await networks.editVpc({ spec: { staticRoutes: [...main, ...aside] } })
      await untilTaken('right-1', 'right-1')
      await networks.editSubnet('left', { routeTable: 'aside' })
      await untilTaken('right-2', 'right-1')
      await networks.editVpc({ spec: { staticRoutes: aside } })
      await untilTaken('right-2', 'nobody')
      await networks.editVpc({ spec: { staticRoutes: [...main, ...aside] } })
      await networks.editSubnet('left', { routeTable: null })
      await untilTaken('right-1', 'right-1')
      await networks.editVpc({ spec: { staticRoutes: null } })
    })
    expect(lost).toEqual([])
  })
}
