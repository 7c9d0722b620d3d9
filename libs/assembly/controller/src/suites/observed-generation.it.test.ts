import {
  controllerDefinitions,
  egressFirewallResource,
  ipPoolResource,
  ipResource,
  networkAttachmentResource,
  ovnEipResource,
  providerNetworkResource,
  routerLbRuleResource,
  securityGroupResource,
  subnetResource,
  switchLbRuleResource,
  vipResource,
  vlanResource,
  vpcDnsResource,
  vpcResource,
  type EgressFirewallRule,
} from '@kube-ovn/kube-api'
import { configMaps, endpointSlices, namespaces, nodes } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import {
  egressFirewall,
  endpointSlice,
  ip,
  ipPool,
  namespace,
  ovnEip,
  providerNetwork,
  routerLbRule,
  securityGroup,
  subnet,
  switchLbRule,
  vip,
  vlan,
  vpc,
  vpcDns,
} from '@kube-ovn/testing-builders'
import { ControlCluster, createInBlue, dualStack, startWithBlue } from '@kube-ovn/testing-control'
import type { Controller, ControllerOptions } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'
import { expectObserved, kstatus, writesSoFar, type Named } from './observed.it-fixture.ts'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
})

const merge = 'application/merge-patch+json'
const nothing = { transactions: 0, writes: [] }
const options: ControllerOptions = { settings: { apiServerAddress: '10.96.0.1' } }

/** An object, with edits of its specification. */
interface Case extends Named {
  /** What tells the generation. */
  readonly write: string
  /** Changes nothing beside the generation. */
  readonly harmless: object
  /** Asks for what can not be had, of kinds of which something can be asked. */
  readonly impossible?: object
}

interface Specified extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>
}

const rule = { endpoints: ['10.30.0.2'] }
const denied: EgressFirewallRule = { type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } }

const cases: readonly Case[] = [
  {
    ...{ resource: vpcResource, name: 'red', write: 'patch vpcs/status' },
    harmless: { namespaces: ['nobody'] },
    impossible: { staticRoutes: [{ policy: 'policyDst', cidr: 'x', nextHopIP: '10.30.0.9' }] },
  },
  {
    ...{ resource: subnetResource, name: 'blue', write: 'patch subnets/status' },
    harmless: { disableGatewayCheck: true },
    impossible: { vlan: 'v99' },
  },
  {
    ...{ resource: ipPoolResource, name: 'reserve', write: 'patch ippools/status' },
    harmless: { namespaces: ['nobody'] },
    impossible: { ips: ['10.99.0.1'] },
  },
  {
    ...{ resource: vipResource, name: 'shared', write: 'patch vips' },
    harmless: { selector: ['app:web'] },
    impossible: { v4ip: '10.99.0.1' },
  },
  // Of a pod, a reservation, one that reserves nothing, and one of a subnet that is not there.
  ...['a.default', 'db.shop', 'odd', 'late.shop'].map((name) => ({
    ...{ resource: ipResource, name, write: 'patch ips', harmless: { containerID: 'x' } },
  })),
  {
    ...{ resource: ovnEipResource, name: 'eip', write: 'patch ovn-eips/status' },
    harmless: { externalSubnet: '' },
    impossible: { v4Ip: '10.99.0.1' },
  },
  {
    ...{ resource: providerNetworkResource, name: 'quay', write: 'patch provider-networks/status' },
    harmless: { excludeNodes: ['nobody'] },
  },
  {
    ...{ resource: vlanResource, name: 'v10', write: 'patch vlans/status' },
    harmless: { providerInterfaceName: 'quay' },
    impossible: { provider: 'nobody' },
  },
  {
    ...{ resource: securityGroupResource, name: 'web', write: 'patch security-groups/status' },
    harmless: { ingressRules: [] },
    impossible: { ingressRules: [{ ipVersion: 'ipv4', protocol: 'x', priority: 1, policy: 'allow' }] },
  },
  {
    ...{ resource: egressFirewallResource, namespace: 'shop', name: 'default' },
    write: 'patch egressfirewalls/status',
    harmless: { egress: [{ ...denied, ports: [] }] },
    impossible: { egress: [{ type: 'Deny', to: { cidrSelector: 'x' } }] },
  },
  {
    ...{ resource: switchLbRuleResource, name: 'inside', write: 'patch switch-lb-rules/status' },
    harmless: { sessionAffinity: 'None' },
    impossible: { vip: 'x' },
  },
  {
    ...{ resource: routerLbRuleResource, name: 'outside', write: 'patch router-lb-rules/status' },
    harmless: { sessionAffinity: 'None' },
    impossible: { ovnEip: 'nobody' },
  },
  {
    ...{ resource: vpcDnsResource, name: 'dns', write: 'patch vpc-dnses/status' },
    harmless: { replicas: 2 },
    impossible: { subnet: 'nobody' },
  },
]

/** Kinds of which the controller tells nothing, with the reason. */
const untold: Readonly<Record<string, string>> = { DNSNameResolver: 'CoreDNS writes the status' }

/** What each case needs, and an object of each. */
async function populate(): Promise<Controller> {
  const { client } = cluster
  await makeNetworks()
  await client.create(
    ipPoolResource,
    ipPool({ name: 'reserve', subnet: 'blue', ips: ['10.17.0.200..10.17.0.210'] }),
  )
  await client.create(vipResource, vip({ name: 'shared', subnet: 'blue', namespace: 'shop' }))
  const reserved = { namespace: 'shop', subnet: 'blue' }
  await client.create(ipResource, ip({ ...reserved, name: 'db.shop', podName: 'db' }))
  await client.create(ipResource, ip({ ...reserved, name: 'odd', podName: 'odd' }))
  await client.create(ipResource, ip({ ...reserved, name: 'late.shop', podName: 'late', subnet: 'missing' }))
  await client.create(securityGroupResource, securityGroup({ name: 'web' }))
  await client.create(egressFirewallResource, egressFirewall({ namespace: 'shop', egress: [denied] }))
  await client.create(ovnEipResource, ovnEip({ name: 'eip' }))
  await client.create(switchLbRuleResource, switchLbRule({ name: 'inside', ...rule }))
  await client.create(routerLbRuleResource, routerLbRule({ name: 'outside', ...rule }))
  await client.create(vpcDnsResource, vpcDns({ vpc: 'red', subnet: 'red' }))
  for (const service of ['slr-inside', 'rlr-outside'])
    await client.create(endpointSlices, endpointSlice({ name: service, service, endpoints: rule.endpoints }))
  await makeNameServers()
  const control = await cluster.startSettled(options)
  await createInBlue(cluster, control, ['a'])
  await control.settle()
  await cluster.forgetCosts()
  return control
}

async function makeNetworks(): Promise<void> {
  const { client } = cluster
  const gateway = {
    labels: { 'ovn.kubernetes.io/external-gw': 'true' },
    annotations: { 'ovn.kubernetes.io/chassis': 'chassis-n1' },
  }
  await client.patch(nodes, { name: 'n1' }, merge, { metadata: gateway })
  await client.create(vpcResource, vpc({ name: 'red', enableExternal: true }))
  const subnets = [
    { name: 'blue', cidrBlock: dualStack.cidr },
    { name: 'red', vpc: 'red', cidrBlock: '10.30.0.0/24' },
    { name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' },
  ]
  for (const fields of subnets) await client.create(subnetResource, subnet(fields))
  await client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
}

/** What name servers inside of a Vpc need, and the answer of Kubernetes to their Service. */
async function makeNameServers(): Promise<void> {
  const { client } = cluster
  const attachment: KubeObject & { readonly spec: object } = {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: 'ovn-nad' },
    spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: 'kube-ovn' }) },
  }
  await client.create(networkAttachmentResource, attachment)
  await client.create(configMaps, {
    metadata: { namespace: 'kube-system', name: 'vpc-dns-config' },
    data: { 'coredns-vip': '10.96.0.3', 'coredns-image': 'coredns:1', 'nad-name': 'ovn-nad' },
  })
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    { name: 'metrics', port: 9153, protocol: 'TCP' },
  ] as const
  const slice = { namespace: 'kube-system', name: 'dns', service: 'slr-vpc-dns-dns', ports }
  await client.create(endpointSlices, endpointSlice({ ...slice, endpoints: ['10.30.0.8'] }))
}

describe('an object of each kind', () => {
  it('is among the cases, unless nobody tells of its kind here', () => {
    const known = new Set([...cases.map(({ resource }) => resource.kind), ...Object.keys(untold)])
    expect([...known].sort()).toEqual(controllerDefinitions.map(({ resource }) => resource.kind).sort())
    for (const { resource, status } of controllerDefinitions)
      expect({ kind: resource.kind, tells: 'observedGeneration' in (status?.shape ?? {}) }).toEqual({
        kind: resource.kind,
        tells: !Object.hasOwn(untold, resource.kind),
      })
  })

  it('tells an edit that changes nothing else in one write, nothing where nobody edits, and nothing after a restart', async () => {
    {
      await using control = await populate()
      for (const { harmless, write, ...named } of cases) {
        const before = await expectObserved(cluster, named)
        await cluster.user.edit(named.resource, named, harmless)
        await control.settle()
        expect(await expectObserved(cluster, named)).toBeGreaterThan(before)
        const costs = { ...(await cluster.costs()), writes: await writesSoFar(cluster) }
        expect({ ...named, ...costs }).toEqual({ ...named, transactions: 0, writes: [write] })
        await cluster.forgetCosts()
      }
      for (const { resource, ...ref } of cases) {
        await cluster.client.patch(resource, ref, merge, { metadata: { annotations: { team: 'shop' } } })
        await control.settle()
        const { name } = ref
        expect({ resource, name, ...(await cluster.costs()) }).toEqual({ resource, name, ...nothing })
      }
    }
    await using control = await cluster.startController(options)
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
  })

  it('tells an edit that asks for what can not be had in one write, and nothing after a restart', async () => {
    {
      await using control = await populate()
      for (const { impossible, write, ...named } of cases) {
        if (impossible === undefined) continue
        const resource: Resource<Specified> = named.resource
        const before = await cluster.client.get(resource, named)
        const mending = Object.keys(impossible).map(
          (field) => [field, before?.spec?.[field] ?? null] as const,
        )
        const fail = async () => {
          await cluster.user.edit(resource, named, impossible)
          await control.settle()
          await expectObserved(cluster, named)
        }
        await fail()
        const own = (await writesSoFar(cluster)).filter((one) => one === write)
        expect({ ...named, own }).toEqual({ ...named, own: [write] })
        await cluster.user.edit(resource, named, Object.fromEntries(mending))
        await control.settle()
        // There may be more to say than one write can: what is made again has no backends at first.
        await expectObserved(cluster, named)
        await fail()
        await cluster.forgetCosts()
      }
    }
    await using control = await cluster.startController(options)
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
  })
})

describe('an edit of a subnet', () => {
  const blue: Named = { resource: subnetResource, name: 'blue' }
  const status = 'patch subnets/status'

  it.each([
    { name: 'that is not in normal form', edit: { excludeIps: [] }, writes: ['patch subnets', status] },
    { name: 'that can not be used', edit: { vlan: 'v10' }, writes: [status], expected: 'InProgress' },
  ])('$name is told in one write', async ({ edit, writes, expected = 'Current' }) => {
    await using control = await startWithBlue(cluster, dualStack)
    await cluster.user.edit(subnetResource, 'blue', edit)
    await control.settle()
    await expectObserved(cluster, blue, expected)
    expect(await writesSoFar(cluster)).toEqual(writes)
  })

  it('that changes what is in effect is told by the last of its writes', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    const seen: string[] = []
    control.onNorthboundChange(() => {
      const object = control.world.subnets.get('blue')
      if (object !== undefined && kstatus(object) === 'Current')
        seen.push('rows changed after the subnet was told to be current')
    })
    await cluster.user.edit(subnetResource, 'blue', { gateway: '10.17.0.254,fd00:10:17::fe' })
    await control.settle()
    await expectObserved(cluster, blue, 'Current')
    expect(seen).toEqual([])
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => write !== status)).toEqual(['patch subnets'])
  })
})
