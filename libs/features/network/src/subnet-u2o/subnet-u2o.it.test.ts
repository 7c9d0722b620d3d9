import { podAnnotations } from '@kube-ovn/annotations'
import {
  ipResource,
  providerNetworkResource,
  subnetResource,
  vlanResource,
  vpcResource,
  type SubnetSpec,
} from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { node, providerNetwork, subnet, vlan, vpc } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'
import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
})

const quiet = { transactions: 0, writes: [] }
const record = 'u2o-interconnection.ovn-cluster.yard'
const inYard = { [podAnnotations().logicalSwitch.key]: 'yard' }

async function make(spec: SubnetSpec = {}): Promise<void> {
  const cidrBlock = '172.19.0.0/24,fd00:172:19::/112'
  const fields = { name: 'yard', cidrBlock, vlan: 'v10', u2oInterconnection: true, ...spec }
  await cluster.client.create(subnetResource, subnet(fields))
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'yard', spec)
  await control.settle()
}

async function read() {
  return cluster.client.get(subnetResource, { name: 'yard' })
}

async function records(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(ipResource)
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('u2o-'))
}

function port(control: Controller, name = 'ovn-cluster-yard') {
  return control.named('Logical_Router_Port', name)
}

/** Policies about the subnet, without those of its pods' nodes: `priority match action next hops`. */
function policies(control: Controller): readonly string[] {
  return control
    .rows('Logical_Router_Policy', 'priority', 'match', 'action', 'nexthops', 'external_ids')
    .filter(({ external_ids }) => external_ids['subnet'] === 'yard')
    .map(({ priority, match, action, nexthops }) => [priority, match, action, ...nexthops].join(' '))
    .sort()
}

function perFamily(policy: (family: 4 | 6, cidr: string, gateway: string) => readonly string[]) {
  return [
    ...policy(4, '172.19.0.0/24', '172.19.0.1'),
    ...policy(6, 'fd00:172:19::/112', 'fd00:172:19::1'),
  ].sort()
}

/** Next hops that have a route for no other reason than that OVN asks for them rightly. */
function hopsAskedFor(control: Controller): readonly string[] {
  return control
    .rows('Logical_Router_Static_Route', 'route_table', 'nexthop')
    .filter(({ route_table }) => route_table === 'policy-next-hops')
    .map(({ nexthop }) => nexthop)
}

const plainPolicies = perFamily((family, cidr, gateway) => [
  `29400 ip${family}.dst == ${cidr} allow`,
  `31000 ip${family}.dst == $yard.u2o_exclude_ip.ip${family} && ip${family}.src == ${cidr} reroute ${gateway}`,
  `29000 ip${family}.src == ${cidr} reroute ${gateway}`,
])

describe('an underlay subnet that is connected to its router', () => {
  it('has an address for the router, which leads to the gateway what is not for overlays', async () => {
    await using control = await cluster.startSettled()
    await make({ enableDHCP: true, u2oInterconnectionIP: '172.19.0.5,fd00:172:19::5' })
    await control.settle()
    expect(port(control)?.networks.toSorted()).toEqual(['172.19.0.5/24', 'fd00:172:19::5/112'])
    expect(policies(control)).toEqual(plainPolicies)
    expect(hopsAskedFor(control)).toEqual(['fd00:172:19::1'])
    expect(control.named('Address_Set', 'yard.u2o_exclude_ip.ip4')?.addresses).toHaveLength(1)
    expect(control.named('Logical_Router', 'ovn-cluster')?.options).not.toHaveProperty([
      'always_learn_from_arp_request',
    ])
    const { status } = (await read()) ?? {}
    expect(status).toMatchObject({
      u2oInterconnectionIP: '172.19.0.5,fd00:172:19::5',
      u2oInterconnectionMAC: port(control)?.mac,
      u2oInterconnectionVPC: 'ovn-cluster',
      v4usingIPs: 1,
      inEffect: { logicalGateway: false, u2oInterconnection: true },
    })
    expect(control.rows('DHCP_Options', 'options').map(({ options }) => options['router'])).toContain(
      '172.19.0.5',
    )
    expect((await cluster.client.get(ipResource, { name: record }))?.spec).toMatchObject({
      podName: record,
      namespace: 'default',
      macAddress: port(control)?.mac,
    })
    const { mac } = port(control) ?? {}
    await edit(control, { u2oInterconnectionIP: '172.19.0.6,fd00:172:19::6' })
    expect(port(control)).toMatchObject({ mac })
    expect(port(control)?.networks.toSorted()).toEqual(['172.19.0.6/24', 'fd00:172:19::6/112'])

    await cluster.user.createPod({ name: 'web', annotations: inYard })
    await control.settle()
    const pod = await cluster.client.get(pods, { namespace: 'default', name: 'web' })
    expect(pod?.metadata.annotations).toMatchObject({
      'ovn.kubernetes.io/gateway': '172.19.0.1,fd00:172:19::1',
      'ovn.kubernetes.io/logical_router': 'ovn-cluster',
      'ovn.kubernetes.io/vlan_id': '10',
    })

    await edit(control, { u2oInterconnection: false })
    expect([port(control), policies(control), await records()]).toEqual([undefined, [], []])
    expect(hopsAskedFor(control)).toEqual([])
    expect((await read())?.spec).toMatchObject({ u2oInterconnectionIP: '' })
    expect((await read())?.status).toMatchObject({ u2oInterconnectionIP: '', v4usingIPs: 1 })
    expect(control.named('Address_Set', 'yard.u2o_exclude_ip.ip4')).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it('has four policies of each family where only overlays are reached, and goes back', async () => {
    await using control = await cluster.startSettled()
    await make({ u2oFeatures: { overlayOnlyRouting: true } })
    await control.settle()
    expect(policies(control)).toEqual(
      perFamily((family, cidr, gateway) => [
        `31000 ip${family}.dst == $yard.u2o_exclude_ip.ip${family} && ip${family}.src == ${cidr} reroute ${gateway}`,
        `30060 ip${family}.src == ${cidr} && ip${family}.dst == ${cidr} allow`,
        `30050 ip${family}.src == ${cidr} reroute ${gateway}`,
        `29400 ip${family}.src == $ovn.cluster.u2o_overlay_cidrs.ip${family} && ip${family}.dst == ${cidr} allow`,
      ]),
    )
    await edit(control, { u2oFeatures: { overlayOnlyRouting: false } })
    expect(policies(control)).toEqual(plainPolicies)
    const marks = control
      .rows('Logical_Router_Policy', 'external_ids')
      .map(({ external_ids }) => external_ids)
    expect(marks.filter((ids) => 'isU2OOverlayOnlyRoutePolicy' in ids)).toEqual([])
  })

  it('may be in a VPC of its own, and goes with it in either order', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vpcResource, vpc({ name: 'v1' }))
    await make({ vpc: 'v1' })
    await control.settle()
    expect(port(control, 'v1-yard')).toBeDefined()
    expect(await records()).toEqual(['u2o-interconnection.v1.yard'])
    expect(policies(control)).toEqual(
      perFamily((family, cidr, gateway) => [
        `31000 ip${family}.dst == ${cidr} allow`,
        `29000 ip${family}.src == ${cidr} reroute ${gateway}`,
      ]),
    )
    await cluster.client.remove(vpcResource, { name: 'v1' })
    await control.settle()
    expect(port(control, 'v1-yard')).toBeDefined()
    await cluster.client.remove(subnetResource, { name: 'yard' })
    await control.settle()
    expect([port(control, 'v1-yard'), policies(control), await records()]).toEqual([undefined, [], []])
    expect(await cluster.client.get(vpcResource, { name: 'v1' })).toBeUndefined()
  })

  it('changes hands with a gateway of OVN', async () => {
    await using control = await cluster.startSettled()
    await make({ u2oInterconnection: false, logicalGateway: true })
    await control.settle()
    expect(port(control)?.networks).toContain('172.19.0.1/24')
    await edit(control, { logicalGateway: false, u2oInterconnection: true })
    expect(port(control)?.networks).not.toContain('172.19.0.1/24')
    expect(policies(control)).toEqual(plainPolicies)
    await edit(control, { logicalGateway: true, u2oInterconnection: false })
    expect(port(control)?.networks).toContain('172.19.0.1/24')
    expect(await records()).toEqual([])
  })

  it('has the same after a restart without a write, and is put right when somebody breaks it', async () => {
    let before: unknown
    {
      await using control = await cluster.startSettled()
      await make({ enableLb: false })
      await control.settle()
      before = [port(control), policies(control)]
      await cluster.forgetCosts()
    }
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(quiet)
    expect([port(control), policies(control)]).toEqual(before)
    expect(auditAddresses(control.world)).toEqual([])
    await cluster.northbound.nbctl('lr-policy-del', 'ovn-cluster', '29000', 'ip4.src == 172.19.0.0/24')
    await cluster.northbound.nbctl('set', 'Address_Set', 'yard.u2o_exclude_ip.ip4', 'addresses=10.9.9.9')
    const theirs = 'ip4.dst == 10.9.9.9'
    await cluster.northbound.nbctl('lr-policy-add', 'ovn-cluster', '29400', theirs, 'allow')
    await cluster.client.remove(ipResource, { name: record })
    await control.settle()
    expect([port(control), policies(control)]).toEqual(before)
    const matches = control.rows('Logical_Router_Policy', 'match').map(({ match }) => match)
    expect(matches).toContain(theirs)
    expect(control.named('Address_Set', 'yard.u2o_exclude_ip.ip4')?.addresses).not.toContain('10.9.9.9')
    expect(await records()).toEqual([record])
  })

  it('follows the addresses of nodes', async () => {
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    const more = node({ name: 'n2', addresses: ['172.18.0.12', '172.18.0.11'] })
    await cluster.client.create(nodes, more)
    await control.settle()
    const set = () => control.named('Address_Set', 'yard.u2o_exclude_ip.ip4')?.addresses.toSorted()
    expect(set()).toEqual(['172.18.0.11', '172.18.0.12'])
    const status = { addresses: [{ type: 'InternalIP', address: '172.18.0.99' }] }
    const merge = 'application/merge-patch+json'
    await cluster.client.patch(nodes, { name: 'n2' }, merge, { status }, { subresource: 'status' })
    await control.settle()
    expect(set()).toEqual(['172.18.0.11', '172.18.0.99'])
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect(set()).toEqual(['172.18.0.11'])
  })
})

it.each<{ readonly what: string; readonly spec: SubnetSpec; readonly edit?: SubnetSpec }>([
  { what: 'is connected', spec: { u2oInterconnection: true } },
  {
    what: 'is connected, and edited badly',
    spec: { u2oInterconnection: true },
    edit: { excludeIps: ['none'] },
  },
  { what: 'has a gateway of OVN, and is edited badly', spec: { logicalGateway: true }, edit: { mtu: 1 } },
])('An underlay subnet of the original stays as it was that $what', async ({ spec, edit: slip }) => {
  const told = async () => {
    const { u2oInterconnectionIP, u2oInterconnectionMAC } = (await read())?.status ?? {}
    const { uid } = (await cluster.client.get(ipResource, { name: record }))?.metadata ?? {}
    return { u2oInterconnectionIP, u2oInterconnectionMAC, uid }
  }
  const rowsOf = (control: Controller) =>
    (['localnet.yard', 'yard-ovn-cluster', 'web.default'] as const).map(
      (name) => control.world.northbound.find('Logical_Switch_Port', 'name', name)[0]?._uuid,
    )
  const merge = 'application/merge-patch+json'
  let before: readonly unknown[] = []
  {
    await using control = await cluster.startSettled()
    await make({ u2oInterconnection: false })
    await cluster.user.createPod({ name: 'first', annotations: inYard })
    await control.settle()
    await edit(control, spec)
    await cluster.user.createPod({ name: 'web', annotations: inYard })
    await cluster.client.remove(pods, { namespace: 'default', name: 'first' }, { gracePeriodSeconds: 0 })
    await control.settle()
    before = [await told(), rowsOf(control), policies(control), port(control)]
    expect(rowsOf(control)).not.toContain(undefined)
  }
  // It does not say what is in effect.
  const status = { inEffect: null }
  await cluster.client.patch(subnetResource, { name: 'yard' }, merge, { status }, { subresource: 'status' })
  if (slip !== undefined) await cluster.user.edit(subnetResource, 'yard', slip)
  await using control = await cluster.startController()
  await control.settle()
  expect([await told(), rowsOf(control), policies(control), port(control)]).toEqual(before)
})

describe('what can not be connected', () => {
  it.each([
    { u2oInterconnectionIP: '10.9.9.9', cure: 'choose an address inside 172.19.0.0/24' },
    { u2oInterconnectionIP: '172.19.0.1', cure: 'this is the gateway of the physical network' },
    {
      u2oInterconnection: false,
      u2oFeatures: { overlayOnlyRouting: true },
      cure: 'switch it off, or give the subnet a vlan and switch u2oInterconnection on',
    },
  ])('is told: $cure', async ({ cure, ...spec }) => {
    await using control = await cluster.startSettled()
    await make(spec)
    await control.settle()
    const told = (await read())?.status?.conditions?.find(({ type }) => type === 'Validated')
    expect(told).toMatchObject({ status: 'False', message: expect.stringContaining(cure) as string })
    expect(port(control)).toBeUndefined()
  })

  it('keeps its address while somebody has the one that is asked for, and takes it then', async () => {
    await using control = await cluster.startSettled()
    await make()
    const annotations = { ...inYard, [podAnnotations().ipAddress.key]: '172.19.0.9,fd00:172:19::9' }
    await cluster.user.createPod({ name: 'web', annotations })
    await control.settle()
    const before = port(control)?.networks
    await edit(control, { u2oInterconnectionIP: '172.19.0.9,fd00:172:19::9' })
    expect(port(control)?.networks).toEqual(before)
    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await control.settle()
    expect(port(control)?.networks.toSorted()).toEqual(['172.19.0.9/24', 'fd00:172:19::9/112'])
  })
})

describe('stock OVN', () => {
  /** An underlay subnet with a router's port on it. */
  async function startYard(): Promise<Northbound> {
    const northbound = await startNorthbound({ northd: true })
    await northbound.nbctl(
      ...['--wait=sb', 'lr-add', 'r', '--', 'ls-add', 'yard', '--', 'lsp-add', 'yard', 'web'],
      ...['--', 'lsp-set-addresses', 'web', '00:00:5e:00:53:09 172.19.0.9 fd00:172:19::9'],
      ...['--', 'lrp-add', 'r', 'r-yard', '00:00:5e:00:53:05', '172.19.0.5/24', 'fd00:172:19::5/112'],
      ...['--', 'lsp-add', 'yard', 'yard-r', '--', 'lsp-set-type', 'yard-r', 'router'],
      ...['--', 'lsp-set-addresses', 'yard-r', 'router'],
      ...['--', 'lsp-set-options', 'yard-r', 'router-port=r-yard'],
      ...['--', 'lsp-add', 'yard', 'localnet.yard', '--', 'lsp-set-type', 'localnet.yard', 'localnet'],
      ...['--', 'lsp-set-addresses', 'localnet.yard', 'unknown'],
      ...['--', 'lsp-set-options', 'localnet.yard', 'network_name=quay'],
    )
    return northbound
  }

  it.each([
    { what: 'ARP', asked: 'arp.tpa == 172.19.0.5', answer: 'ARP reply' },
    { what: 'neighbour discovery', asked: 'nd.target == fd00:172:19::5', answer: 'nd_na_router {' },
  ])(
    'answers $what for the address of the router on every node: it can not leave that to one',
    async ({ asked, answer }) => {
      await using northbound = await startYard()
      const flows = (await northbound.sbctl('lflow-list')).split('\n')
      const answers = flows.filter((flow) => flow.includes('lr_in_ip_input') && flow.includes(asked))
      expect(answers).toEqual([expect.stringContaining(answer)])
      expect(answers[0]).not.toContain('is_chassis_resident')
    },
  )

  it('asks for an IPv6 gateway at its own group once a route names it, and not where a policy alone does', async () => {
    await using northbound = await startYard()
    const gateway = 'fd00:172:19::1'
    const asking = async (): Promise<readonly string[]> =>
      (await northbound.sbctl('lflow-list', 'r'))
        .split('\n')
        .filter((flow) => flow.includes('lr_in_arp_request') && flow.includes(`xxreg0 == ${gateway}`))
    const exit = ['29000', 'ip6.src == fd00:172:19::/112', 'reroute', gateway]
    await northbound.nbctl('--wait=sb', 'lr-policy-add', 'r', ...exit)
    expect(await asking()).toEqual([])
    const table = '--route-table=policy-next-hops'
    await northbound.nbctl('--wait=sb', table, 'lr-route-add', 'r', `${gateway}/128`, gateway)
    expect(await asking()).toEqual([expect.stringContaining('ip6.dst = ff02::1:ff00:1;')])
  })

  it("sends what the router hands on to the gateway with the router's MAC address, not the pod's", async () => {
    await using northbound = await startYard()
    const hops = [
      { family: 4, gateway: '172.19.0.1', outside: '198.51.100.1', source: '172.19.0.9' },
      { family: 6, gateway: 'fd00:172:19::1', outside: '2001:db8::1', source: 'fd00:172:19::9' },
    ]
    for (const { family, gateway, outside, source } of hops) {
      await northbound.nbctl('--wait=sb', 'lr-route-add', 'r', family === 4 ? '0.0.0.0/0' : '::/0', gateway)
      const flow = [
        'inport == "web" && eth.src == 00:00:5e:00:53:09 && eth.dst == 00:00:5e:00:53:05 && ip.ttl == 64',
        `ip${family}.src == ${source} && ip${family}.dst == ${outside} && udp`,
      ].join(' && ')
      const traced = await northbound.script(
        `ovn-trace --db=${northbound.southbound?.socket} --minimal yard '${flow}' 2>&1`,
      )
      expect(traced).toMatch(/^output\("localnet\.yard"\);$/m)
      const sources = [...traced.matchAll(/^eth\.src = ([\w:]+);$/gm)].map(([, mac]) => mac)
      expect(sources).toEqual(['00:00:5e:00:53:05'])
    }
  })
})
