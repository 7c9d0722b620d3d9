import { appliedAnnotation, podAnnotations, vpcDnsLabel } from '@kube-ovn/annotations'
import {
  networkAttachmentResource,
  subnetResource,
  switchLbRuleResource,
  vpcDnsResource,
  vpcResource,
  type VpcDns,
} from '@kube-ovn/kube-api'
import {
  configMaps,
  deployments,
  endpointSlices,
  pods,
  services,
  type Workload,
} from '@kube-ovn/kube-api/core'
import type { KubeObject } from '@kube-ovn/kube'
import {
  endpointSlice,
  pod,
  subnet,
  switchLbRule,
  vpc,
  vpcDns,
  type VpcDnsFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller, type ControllerOptions } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const namespace = 'kube-system'
const nothing = { transactions: 0, writes: [] }
const config = { namespace, name: 'vpc-dns-config' }
const made = { namespace, name: 'vpc-dns-dns' }
const data = { 'coredns-vip': '10.96.0.3', 'coredns-image': 'coredns:1', 'nad-name': 'ovn-nad' }
const settings = { apiServerAddress: '10.96.0.1' }
const merge = 'application/merge-patch+json'

/** A Vpc with two Subnets, the further network, and what goes for all. */
async function start(options: ControllerOptions = {}): Promise<Controller> {
  await cluster.client.create(vpcResource, vpc({ name: 'blue' }))
  for (const [name, cidrBlock] of [['blue-a', '10.30.0.0/24'] as const, ['blue-b', '10.31.0.0/24'] as const])
    await cluster.client.create(subnetResource, subnet({ name, vpc: 'blue', cidrBlock }))
  const attachment: KubeObject & { readonly spec: object } = {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: 'ovn-nad' },
    spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: 'kube-ovn' }) },
  }
  await cluster.client.create(networkAttachmentResource, attachment)
  await cluster.client.create(configMaps, { metadata: config, data })
  return cluster.startSettled({ settings, ...options })
}

async function create(fields: VpcDnsFields = {}): Promise<VpcDns> {
  return cluster.client.create(vpcDnsResource, vpcDns(fields))
}

async function statusOf(name = 'dns'): Promise<string> {
  const { status } = (await cluster.client.get(vpcDnsResource, { name })) ?? {}
  const [ready] = status?.conditions ?? []
  return `${status?.active} ${ready?.status} ${ready?.reason} ${ready?.message ?? ''}`.trim()
}

interface Dns extends Workload {
  readonly spec: NonNullable<Workload['spec']> & { readonly replicas: number }
}

async function deploymentOf(name = made.name): Promise<Dns | undefined> {
  return (await cluster.client.get(deployments, { namespace, name })) as Dns | undefined
}

async function corefileOf(name = made.name): Promise<string | undefined> {
  const { spec } = (await deploymentOf(name))?.spec.template ?? {}
  const [volume] = (
    spec as { readonly volumes?: readonly { readonly configMap: { readonly name: string } }[] }
  )?.volumes ?? [undefined]
  return volume?.configMap.name
}

/** As the controllers of Kubernetes make one of the Service. */
async function answer(dns = 'dns', address = '10.30.0.8'): Promise<void> {
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    { name: 'metrics', port: 9153, protocol: 'TCP' },
  ] as const
  const slice = { namespace, name: `${dns}-1`, service: `slr-vpc-dns-${dns}`, endpoints: [address], ports }
  await cluster.client.create(endpointSlices, endpointSlice(slice))
}

function vipsOf(control: Controller, name: string): Readonly<Record<string, string>> {
  return { ...control.named('Load_Balancer', name)?.vips }
}

async function madeThings(name = made.name): Promise<readonly string[]> {
  const found = [
    (await deploymentOf(name)) && 'Deployment',
    (await cluster.client.get(switchLbRuleResource, { name })) && 'SwitchLBRule',
    (await cluster.client.get(configMaps, { namespace, name })) && 'ConfigMap',
    (await cluster.client.get(services, { namespace, name: `slr-${name}` })) && 'Service',
  ]
  return found.filter((kind) => kind !== undefined)
}

describe('a VpcDns', () => {
  it('has name servers under an address in its Vpc, each written once, and leaves nothing behind', async () => {
    await using control = await start()
    const { metadata } = await create()
    await control.settle()
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => !/status|services/.test(write))).toEqual([
      ...['patch configmaps', 'patch deployments', 'patch switch-lb-rules'],
    ])
    expect(await madeThings()).toEqual(['Deployment', 'SwitchLBRule', 'ConfigMap', 'Service'])
    const owners = (await deploymentOf())?.metadata.ownerReferences
    expect(owners?.map(({ uid }) => uid)).toEqual([metadata.uid])
    expect(await statusOf()).toMatch(
      /^true False NotServed .*value=10.96.0.3 rule=vpc-dns-dns\); see why in the condition Ready/,
    )
    await answer()
    await control.settle()
    expect(vipsOf(control, 'vpc-blue-udp-load')).toEqual({ '10.96.0.3:53': '10.30.0.8:53' })
    expect(vipsOf(control, 'vpc-blue-tcp-load')).toEqual({
      '10.96.0.3:53': '10.30.0.8:53',
      '10.96.0.3:9153': '10.30.0.8:9153',
    })
    expect(await statusOf()).toBe('true True Served')

    await cluster.client.remove(vpcDnsResource, { name: 'dns' })
    await control.settle()
    expect(await madeThings()).toEqual([])
    expect(vipsOf(control, 'vpc-blue-udp-load')).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('has Pods that get an address in the Vpc, and one for the way to the API server', async () => {
    await using control = await start()
    await create()
    await control.settle()
    const { labels, annotations = {} } = (await deploymentOf())?.spec.template?.metadata ?? {}
    const one = pod({ name: 'dns-1', namespace, node: 'n1', annotations })
    await cluster.client.create(pods, { ...one, metadata: { ...one.metadata, ...(labels && { labels }) } })
    await control.settle()
    const given = (await cluster.client.get(pods, { namespace, name: 'dns-1' }))?.metadata.annotations
    expect(podAnnotations().logicalRouter.read(given)).toBe('blue')
    expect(given?.[podAnnotations().ipAddress.key]).toMatch(/^10\.30\.0\./)
    expect(given?.[podAnnotations('ovn-nad.default.ovn').ipAddress.key]).toMatch(
      /^10\.16\.0\.\d+,fd00:10:16::/,
    )
  })

  it('follows its changes and those of what goes for all', async () => {
    await using control = await start()
    await create()
    await cluster.client.create(configMaps, {
      metadata: { namespace, name: 'mine' },
      data: { Corefile: '. {}' },
    })
    await control.settle()
    await cluster.user.edit(vpcDnsResource, 'dns', { replicas: 3, subnet: 'blue-b', corefile: 'mine' })
    await cluster.client.patch(configMaps, config, merge, {
      data: { 'coredns-vip': '10.96.0.4', 'coredns-image': 'coredns:2' },
    })
    await control.settle()
    const { replicas, template } = (await deploymentOf())?.spec ?? {}
    expect(replicas).toBe(3)
    expect(template?.spec?.containers?.map(({ image }) => image)).toEqual(['coredns:2'])
    expect(podAnnotations().logicalSwitch.read(template?.metadata?.annotations)).toBe('blue-b')
    expect(await corefileOf()).toBe('mine')
    // The plain one is of no use any more.
    expect(await madeThings()).toEqual(['Deployment', 'SwitchLBRule', 'Service'])
    const { spec } = (await cluster.client.get(switchLbRuleResource, { name: made.name })) ?? {}
    expect(spec?.vip).toBe('10.96.0.4')
    expect(control.problems()).toEqual([])
  })

  it('uses the Corefile of the usual name as soon as somebody writes one, and leaves that as it is', async () => {
    await using control = await start()
    await create()
    await control.settle()
    expect(await corefileOf()).toBe(made.name)
    const usual = { namespace, name: 'vpc-dns-corefile' }
    await cluster.client.create(configMaps, { metadata: usual, data: { Corefile: '. {}' } })
    await control.settle()
    expect(await corefileOf()).toBe('vpc-dns-corefile')
    expect(await cluster.client.get(configMaps, made)).toBeUndefined()
    const { data: left, metadata } = (await cluster.client.get(configMaps, usual)) ?? {}
    expect([left, metadata?.annotations]).toEqual([{ Corefile: '. {}' }, undefined])
  })

  it('has the image of the name servers of the cluster where none is written', async () => {
    await using control = await start()
    await cluster.client.patch(configMaps, config, merge, { data: { 'coredns-image': null } })
    await create()
    await control.settle()
    expect(await statusOf()).toContain('field=data.coredns-image); write the image of CoreDNS')
    const labels = { app: 'coredns' }
    const containers = [{ name: 'coredns', image: 'coredns:9' }]
    await cluster.client.create(deployments, {
      metadata: { namespace, name: 'coredns' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    } as Workload)
    await control.settle()
    const { spec } = (await deploymentOf())?.spec.template ?? {}
    expect(spec?.containers?.map(({ image }) => image)).toEqual(['coredns:9'])
  })
})

describe('what was made', () => {
  it('costs nothing at a restart, which catches up with what happened meanwhile', async () => {
    {
      await using control = await start()
      await create()
      await answer()
      await control.settle()
    }
    {
      await using control = await cluster.startController({ settings })
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await cluster.client.remove(vpcDnsResource, { name: 'dns' })
    await using control = await cluster.startController({ settings })
    await control.settle()
    expect(await madeThings()).toEqual([])
    expect(vipsOf(control, 'vpc-blue-udp-load')).toEqual({})
  })

  it('is put back by whoever breaks it, one write for each, and what somebody adds stays', async () => {
    await using control = await start()
    await create()
    await control.settle()
    await cluster.forgetCosts()
    await cluster.client.patch(deployments, made, merge, {
      metadata: { labels: { mine: 'yes', [vpcDnsLabel]: 'no' }, annotations: { [appliedAnnotation]: null } },
      spec: { replicas: 7, minReadySeconds: 5 },
    })
    await cluster.client.patch(switchLbRuleResource, { name: made.name }, merge, { spec: { vip: '9.9.9.9' } })
    await cluster.client.remove(configMaps, made)
    await control.settle()
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => !/status|services|events/.test(write))).toEqual([
      ...['patch configmaps', 'patch deployments', 'patch switch-lb-rules'],
    ])
    const { metadata, spec } = (await deploymentOf()) ?? {}
    expect(metadata?.labels).toEqual({ mine: 'yes', [vpcDnsLabel]: 'true' })
    expect(spec).toMatchObject({ replicas: 2, minReadySeconds: 5 })
    expect((await cluster.client.get(switchLbRuleResource, { name: made.name }))?.spec?.vip).toBe('10.96.0.3')
    expect(await madeThings()).toContain('ConfigMap')
    await cluster.client.remove(deployments, made)
    await control.settle()
    expect(await madeThings()).toContain('Deployment')
  })

  it('is taken over from the original, and none of somebody else is', async () => {
    const theirs = { metadata: { name: made.name, labels: { [vpcDnsLabel]: 'true' } } }
    const rule = switchLbRule({ name: made.name, vip: '10.96.0.9', selector: ['k8s-app:vpc-dns-dns'] })
    await cluster.client.create(switchLbRuleResource, { ...rule, ...theirs })
    const stale = switchLbRule({ name: 'vpc-dns-old' })
    const labels = { [vpcDnsLabel]: 'true' }
    await cluster.client.create(switchLbRuleResource, { ...stale, metadata: { ...stale.metadata, labels } })
    await cluster.client.create(switchLbRuleResource, switchLbRule({ name: 'vpc-dns-other', vip: '1.1.1.2' }))
    await using control = await start()
    await create()
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red-a', vpc: 'red', cidrBlock: '10.32.0.0/24' }),
    )
    await create({ name: 'other', vpc: 'red', subnet: 'red-a' })
    await control.settle()
    const { spec } = (await cluster.client.get(switchLbRuleResource, { name: made.name })) ?? {}
    expect(spec?.vip).toBe('10.96.0.3')
    // No VpcDns asks for it.
    expect(await cluster.client.get(switchLbRuleResource, { name: 'vpc-dns-old' })).toBeUndefined()
    const other = await cluster.client.get(switchLbRuleResource, { name: 'vpc-dns-other' })
    expect(other?.spec?.vip).toBe('1.1.1.2')
    expect(await deploymentOf('vpc-dns-other')).toBeUndefined()
    expect(await statusOf('other')).toMatch(
      /^false False NotAsWritten .*or delete the SwitchLBRule vpc-dns-other, which is another one/,
    )
  })
})

describe('several in a Vpc', () => {
  it('are one: the oldest; the next one is told so, and takes its place when it goes', async () => {
    await using control = await start()
    await create()
    await answer()
    // Times of creation are whole seconds: names decide within one.
    await create({ name: 'dns2', subnet: 'blue-b' })
    await control.settle()
    expect(await statusOf()).toBe('true True Served')
    expect(await statusOf('dns2')).toMatch(
      /^false False VpcTaken .*\(field=spec.vpc value=blue holder=dns\); write another Vpc, or delete/,
    )
    expect(await cluster.user.told('dns2')).toHaveLength(1)
    expect(await madeThings('vpc-dns-dns2')).toEqual([])
    await cluster.client.remove(vpcDnsResource, { name: 'dns' })
    await answer('dns2', '10.31.0.8')
    await control.settle()
    expect(await statusOf('dns2')).toBe('true True Served')
    expect(vipsOf(control, 'vpc-blue-udp-load')).toEqual({ '10.96.0.3:53': '10.31.0.8:53' })
    expect(await madeThings()).toEqual([])
  })

  it('are not both there when one moves to the Vpc of another', async () => {
    await using control = await start()
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red-a', vpc: 'red', cidrBlock: '10.32.0.0/24' }),
    )
    await create()
    await create({ name: 'dns2', vpc: 'red', subnet: 'red-a' })
    await control.settle()
    expect(await madeThings('vpc-dns-dns2')).toHaveLength(4)
    await cluster.user.edit(vpcDnsResource, 'dns2', { vpc: 'blue', subnet: 'blue-b' })
    await control.settle()
    expect(await madeThings('vpc-dns-dns2')).toEqual([])
    expect(await statusOf('dns2')).toMatch(/^false False VpcTaken/)
    expect(await madeThings()).toHaveLength(4)
  })
})

describe('what can not be used', () => {
  it('is told once, and what was made stays', async () => {
    await using control = await start()
    await create()
    await control.settle()
    const edits: readonly (readonly [object, string])[] = [
      [{ vpc: 'nowhere' }, 'field=spec.vpc value=nowhere); create the Vpc'],
      [{ vpc: '' }, 'field=spec.vpc); write the name of the Vpc'],
      [
        { vpc: 'blue', subnet: 'ovn-default' },
        'field=spec.subnet value=ovn-default); write a Subnet of the Vpc blue',
      ],
      [
        { subnet: 'blue-a', corefile: 'none' },
        'field=spec.corefile value=none); create the ConfigMap kube-system/none',
      ],
      [{ corefile: 'vpc-dns-config' }, 'field=spec.corefile value=vpc-dns-config)'],
      [{ corefile: made.name }, 'value=vpc-dns-dns); write the name of another ConfigMap'],
    ]
    for (const [edit, told] of edits) {
      await cluster.user.edit(vpcDnsResource, 'dns', edit)
      await control.settle()
      expect(await statusOf()).toMatch(/^true False NotAsWritten/)
      expect(await statusOf()).toContain(told)
    }
    expect(await cluster.user.told('dns')).toHaveLength(edits.length)
    expect(await madeThings()).toHaveLength(4)
    await cluster.user.edit(vpcDnsResource, 'dns', { corefile: null })
    await cluster.client.remove(networkAttachmentResource, { namespace: 'default', name: 'ovn-nad' })
    await control.settle()
    expect(await statusOf()).toContain(
      'field=data.nad-name value=ovn-nad); create the NetworkAttachmentDefinition',
    )
    // Whoever removes what goes for all does not mean the name servers.
    await cluster.client.remove(configMaps, config)
    await control.settle()
    expect(await statusOf()).toContain('create the ConfigMap kube-system/vpc-dns-config')
    expect(await madeThings()).toHaveLength(4)
  })

  it('is a name of which the things would be ConfigMaps that users write: none of these is made, nor taken away', async () => {
    await using control = await start()
    const usual = { namespace, name: 'vpc-dns-corefile' }
    await create({ name: 'corefile' })
    await control.settle()
    expect(await statusOf('corefile')).toContain('value=corefile); create it anew under another name')
    expect(await madeThings(usual.name)).toEqual([])
    // Users may label what is of VpcDnses as they like.
    const labels = { [vpcDnsLabel]: 'true' }
    await cluster.client.patch(configMaps, config, merge, { metadata: { labels } })
    await cluster.client.create(configMaps, { metadata: { ...usual, labels }, data: { Corefile: '. {}' } })
    await cluster.client.remove(vpcDnsResource, { name: 'corefile' })
    await control.settle()
    for (const place of [config, usual]) expect(await cluster.client.get(configMaps, place)).toBeDefined()
  })

  it('is switched off for all and on again, and no VpcDns is deleted by that', async () => {
    await using control = await start()
    await create()
    await control.settle()
    await cluster.client.patch(configMaps, config, merge, { data: { 'enable-vpc-dns': 'false' } })
    await control.settle()
    expect(await madeThings()).toEqual([])
    expect(await statusOf()).toMatch(/^false False SwitchedOff .*write true into enable-vpc-dns/)
    expect(await cluster.user.told('dns')).toEqual([])
    await cluster.client.patch(configMaps, config, merge, { data: { 'enable-vpc-dns': 'true' } })
    await control.settle()
    expect(await madeThings()).toHaveLength(4)
  })

  it('has no name servers without load balancers', async () => {
    await using control = await start({ settings: { ...settings, enableLb: false } })
    await create()
    await control.settle()
    expect(await madeThings()).toEqual([])
    expect(await statusOf()).toMatch(/^false False SwitchedOff .*start the controller with --enable-lb/)
  })
})
