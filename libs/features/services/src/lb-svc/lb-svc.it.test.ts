import {
  appliedAnnotation,
  forwarderAnnotations,
  lbSvcLabel,
  podAnnotations,
  serviceAnnotations,
} from '@kube-ovn/annotations'
import { networkAttachmentResource, subnetResource, vipResource, type Vip } from '@kube-ovn/kube-api'
import { deployments, pods, services, type Pod, type Service, type Workload } from '@kube-ovn/kube-api/core'
import type { KubeObject } from '@kube-ovn/kube'
import { pod, service, subnet, vip, type ServiceFields } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller, type ControllerOptions } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1', 'n2'))

const namespace = 'default'
const web = { namespace, name: 'web' }
const deployment = { namespace, name: 'lb-svc-web' }
const madeVip = { name: 'lb-svc-web.default' }
const nothing = { transactions: 0, writes: [] }
const merge = 'application/merge-patch+json'
const provider = 'street.default'
const nic = podAnnotations(provider)
const flags = { enableLbSvc: true, image: 'kube-ovn/cni:1' }
const attached = { [serviceAnnotations.attachmentProvider.key]: provider }

/** A network of another CNI, with a Subnet of both families. */
async function start(options: ControllerOptions = {}): Promise<Controller> {
  const definition: KubeObject & { readonly spec: object } = {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace, name: 'street' },
    spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: 'macvlan' }) },
  }
  await cluster.client.create(networkAttachmentResource, definition)
  for (const [name, cidrBlock] of [
    ['street', '172.28.0.0/24,fd00:28::/120'] as const,
    ['street-b', '172.29.0.0/24'] as const,
  ])
    await cluster.client.create(subnetResource, subnet({ name, cidrBlock, provider }))
  return cluster.startSettled({ flags, ...options })
}

async function create(fields: ServiceFields = {}): Promise<Service> {
  const { annotations, ...spec } = fields
  const base = {
    type: 'LoadBalancer',
    clusterIP: '10.96.100.1',
    annotations: { ...attached, ...annotations },
  } as const
  return cluster.client.create(services, service({ ...base, ...spec }))
}

async function edit(change: object): Promise<void> {
  await cluster.client.patch(services, web, merge, { ...change })
}

/** Makes a Pod as the Deployment says, as the controllers of Kubernetes do. */
async function runPod(name: string, node = 'n1'): Promise<void> {
  const { labels, annotations } = (await deploymentOf())?.spec?.template?.metadata ?? {}
  await cluster.client.create(
    pods,
    pod({
      ...{ name, namespace, node, phase: 'Running' },
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    }),
  )
}

async function makeReady(name: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True' }] as const
  await cluster.client.patch(
    pods,
    { namespace, name },
    merge,
    { status: { conditions } },
    { subresource: 'status' },
  )
}

async function deploymentOf(): Promise<Workload | undefined> {
  return cluster.client.get(deployments, deployment)
}

async function podOf(name: string): Promise<Pod['metadata']['annotations']> {
  return (await cluster.client.get(pods, { namespace, name }))?.metadata.annotations
}

async function toldOf(name: string): Promise<unknown> {
  const text = (await podOf(name))?.[forwarderAnnotations.forwards.key]
  return text === undefined ? undefined : JSON.parse(text)
}

async function published(): Promise<readonly string[]> {
  const { status } = (await cluster.client.get(services, web)) ?? {}
  return status?.loadBalancer?.ingress?.map(({ ip = '' }) => ip) ?? []
}

async function vipOf(): Promise<Vip | undefined> {
  return cluster.client.get(vipResource, madeVip)
}

/** The Service is served by a Pod. */
async function serve(control: Controller, fields: ServiceFields = {}): Promise<void> {
  await create(fields)
  await control.settle()
  await runPod('one')
  await control.settle()
  await makeReady('one')
  await control.settle()
}

/** The Pod `one` goes, and `two` comes in its place, until that is ready. */
async function replacePod(control: Awaited<ReturnType<typeof start>>): Promise<void> {
  await cluster.removePod('one', namespace)
  await control.settle()
  await runPod('two')
  await control.settle()
  await makeReady('two')
  await control.settle()
}

describe('a Service in an attached network', () => {
  it('has an address there, published once a Pod that has it is told and ready, each thing written once', async () => {
    await using control = await start()
    const { metadata } = await create()
    await control.settle()
    const ours = (writes: readonly string[]): readonly string[] =>
      writes.filter((write) => /vips|deployments|services|pods/.test(write))
    expect(ours((await cluster.costs()).writes)).toEqual([
      'create vips',
      'patch deployments',
      'patch services',
      'patch vips',
    ])
    const { spec, metadata: made } = (await deploymentOf()) ?? {}
    expect(made?.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid])
    const labels = { app: 'lb-svc-web', namespace, service: 'web' }
    const annotations = {
      'k8s.v1.cni.cncf.io/networks': 'default/street',
      'street.default.kubernetes.io/logical_switch': 'street',
      'street.default.kubernetes.io/ip_address': '172.28.0.2,fd00:28::2',
      'street.default.kubernetes.io/vip': madeVip.name,
      'ovn.kubernetes.io/forwarding': 'true',
    }
    expect(spec).toMatchObject({
      ...{ replicas: 1, strategy: { type: 'Recreate' }, selector: { matchLabels: labels } },
      template: { metadata: { labels, annotations } },
    })
    expect(spec?.template?.metadata?.annotations).toEqual(annotations)

    await cluster.forgetCosts()
    await runPod('one')
    await control.settle()
    expect((await podOf('one'))?.[nic.ipAddress.key]).toBe('172.28.0.2,fd00:28::2')
    expect(await toldOf('one')).toEqual({
      families: [{ address: '172.28.0.2', gateway: '172.28.0.1', to: '10.96.100.1' }],
      ports: ['80/TCP'],
    })
    expect(await published()).toEqual([])
    await makeReady('one')
    await control.settle()
    expect(await published()).toEqual(['172.28.0.2'])
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => /services/.test(write))).toEqual(['patch services/status'])

    await cluster.client.remove(services, web)
    await control.settle()
    expect([await deploymentOf(), await vipOf()]).toEqual([undefined, undefined])
    expect(control.problems()).toEqual([])
  })

  it('has its address under both families where it has both', async () => {
    await using control = await start()
    await serve(control, {
      ipFamilyPolicy: 'RequireDualStack',
      clusterIPs: ['10.96.100.1', 'fd00:10:96::11'],
    })
    expect(await published()).toEqual(['172.28.0.2', 'fd00:28::2'])
    expect(await toldOf('one')).toMatchObject({
      families: [{ to: '10.96.100.1' }, { address: 'fd00:28::2', to: 'fd00:10:96::11' }],
    })
  })

  it('is reached by its Pod by way of the Subnet that it names', async () => {
    await using control = await start()
    await serve(control, { annotations: { [serviceAnnotations.logicalSwitch.key]: 'ovn-default' } })
    const { annotations } = (await deploymentOf())?.spec?.template?.metadata ?? {}
    expect(annotations?.[podAnnotations().logicalSwitch.key]).toBe('ovn-default')
    expect(await published()).toEqual(['172.28.0.2'])
    expect([await cluster.user.told('web'), control.problems()]).toEqual([[], []])
  })

  it('keeps its address while its Pod is made anew, and changes its ports without another Pod', async () => {
    await using control = await start()
    await serve(control)
    const template = (await deploymentOf())?.spec?.template
    await cluster.forgetCosts()
    const ports = [
      { name: 'a', port: 443, protocol: 'TCP' },
      { name: 'b', port: 53, protocol: 'UDP' },
    ]
    await edit({ spec: { ports, loadBalancerSourceRanges: ['192.0.2.0/24'] } })
    await control.settle()
    expect(await toldOf('one')).toMatchObject({ ports: ['443/TCP', '53/UDP'], sources: ['192.0.2.0/24'] })
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => /pods|deployments|services|vips/.test(write))).toEqual(['patch pods'])
    expect((await deploymentOf())?.spec?.template).toEqual(template)

    await cluster.removePod('one', namespace)
    await control.settle()
    await runPod('two', 'n2')
    await control.settle()
    expect((await podOf('two'))?.[nic.ipAddress.key]).toBe('172.28.0.2,fd00:28::2')
    expect(await toldOf('two')).toMatchObject({ ports: ['443/TCP', '53/UDP'] })
    expect(await published()).toEqual(['172.28.0.2'])
    expect(control.problems()).toEqual([])
  })

  it('gets the address that it names, and another Pod when it names another one', async () => {
    await using control = await start()
    await serve(control, { loadBalancerIP: '172.28.0.18' })
    expect(await published()).toEqual(['172.28.0.18'])
    await edit({ spec: { loadBalancerIP: '172.28.0.19' } })
    await control.settle()
    expect((await vipOf())?.status?.v4ip).toBe('172.28.0.19')
    const { annotations } = (await deploymentOf())?.spec?.template?.metadata ?? {}
    expect(annotations?.[nic.ipAddress.key]).toMatch(/^172\.28\.0\.19,/)
    // The Pod that has the former one does not count any more.
    expect(await published()).toEqual([])
    await replacePod(control)
    expect(await published()).toEqual(['172.28.0.19'])
  })

  it('gets the address of a Vip that it names, which stays when it goes', async () => {
    await using control = await start()
    await cluster.client.create(vipResource, vip({ name: 'door', subnet: 'street', v4ip: '172.28.0.77' }))
    await serve(control)
    expect(await published()).toEqual(['172.28.0.2'])
    await edit({ metadata: { annotations: { [serviceAnnotations.attachmentVip.key]: 'door' } } })
    await control.settle()
    expect(await vipOf()).toBeUndefined()
    await replacePod(control)
    expect(await published()).toEqual(['172.28.0.77'])
    const annotations = { [serviceAnnotations.attachmentVip.key]: 'door' }
    await create({ name: 'shop', clusterIP: '10.96.100.2', annotations })
    await control.settle()
    expect(await cluster.user.told('shop')).toEqual([
      expect.stringContaining('remove it from the Service default/web, which has its address'),
    ])
    const ofShop = { namespace, name: 'lb-svc-shop' }
    expect(await cluster.client.get(deployments, ofShop)).toBeUndefined()
    await cluster.client.remove(services, web)
    await control.settle()
    expect(await cluster.client.get(deployments, ofShop)).toBeDefined()
    await cluster.client.remove(services, { namespace, name: 'shop' })
    await control.settle()
    expect(await cluster.client.get(vipResource, { name: 'door' })).toBeDefined()
    expect(await deploymentOf()).toBeUndefined()
  })

  it.each([
    ['is of another type', { spec: { type: 'ClusterIP' } }],
    [
      'does not ask for it any more',
      { metadata: { annotations: { [serviceAnnotations.attachmentProvider.key]: null } } },
    ],
  ])('loses all of it when it %s', async (_name, change) => {
    await using control = await start()
    await serve(control)
    await edit(change)
    await control.settle()
    expect([await deploymentOf(), await vipOf(), await published()]).toEqual([undefined, undefined, []])
  })

  it('is left alone when somebody else is to serve it, and where this is not switched on', async () => {
    await using control = await start()
    await create({ loadBalancerClass: 'example.com/other' })
    await control.settle()
    expect([await deploymentOf(), await vipOf()]).toEqual([undefined, undefined])
    await cluster.forgetCosts()
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } }
    await cluster.client.patch(services, web, merge, { status }, { subresource: 'status' })
    await edit({ spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } })
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    await control[Symbol.asyncDispose]()
    await cluster.client.remove(services, web)
    await using off = await cluster.startSettled({ flags: { ...flags, enableLbSvc: false } })
    await create()
    await off.settle()
    expect([await deploymentOf(), await vipOf()]).toEqual([undefined, undefined])
  })
})

describe('what was made', () => {
  it('costs nothing at a restart, which catches up with what happened meanwhile', async () => {
    {
      await using control = await start()
      await serve(control)
    }
    {
      await using control = await cluster.startController({ flags })
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await cluster.client.remove(services, web)
    await using control = await cluster.startController({ flags })
    await control.settle()
    expect([await deploymentOf(), await vipOf()]).toEqual([undefined, undefined])
  })

  it('is put back by whoever breaks it, and what somebody adds stays', async () => {
    await using control = await start()
    await serve(control)
    await cluster.forgetCosts()
    await cluster.client.patch(deployments, deployment, merge, {
      metadata: { labels: { mine: 'yes' }, annotations: { [appliedAnnotation]: null } },
      spec: { replicas: 3, minReadySeconds: 5 },
    })
    await cluster.client.patch(vipResource, madeVip, merge, {
      metadata: { labels: { [lbSvcLabel]: 'true', mine: 'yes' } },
    })
    await cluster.user.annotate({ name: 'one' }, { [forwarderAnnotations.forwards.key]: '{}' })
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } }
    await cluster.client.patch(services, web, merge, { status }, { subresource: 'status' })
    await control.settle()
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => /deployments|pods|services/.test(write))).toEqual([
      ...['patch deployments', 'patch pods', 'patch services/status'],
    ])
    const { metadata, spec } = (await deploymentOf()) ?? {}
    expect(metadata?.labels).toMatchObject({ mine: 'yes' })
    expect(spec).toMatchObject({ replicas: 1, minReadySeconds: 5 })
    expect(await toldOf('one')).toMatchObject({ ports: ['80/TCP'] })
    expect(await published()).toEqual(['172.28.0.2'])
    await cluster.client.remove(deployments, deployment)
    await control.settle()
    expect(await deploymentOf()).toBeDefined()
  })

  it('is taken over from the original, and none of somebody else is', async () => {
    const labels = { app: 'lb-svc-web', namespace, service: 'web' }
    const containers = [{ name: 'lb-svc', image: 'nat:1', securityContext: { privileged: true } }]
    const theirs = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    }
    await cluster.client.create(deployments, { metadata: deployment, spec: theirs })
    const other = { app: 'other' }
    const foreign = {
      selector: { matchLabels: other },
      template: { metadata: { labels: other }, spec: { containers } },
    }
    const place = { namespace, name: 'lb-svc-shop' }
    await cluster.client.create(deployments, { metadata: place, spec: foreign })
    const gone = { app: 'lb-svc-gone', namespace, service: 'gone' }
    const left = {
      selector: { matchLabels: gone },
      template: { metadata: { labels: gone }, spec: { containers } },
    }
    await cluster.client.create(deployments, {
      metadata: { namespace, name: 'lb-svc-gone' },
      spec: left,
    })
    await using control = await start()
    await create()
    await create({ name: 'shop', clusterIP: '10.96.100.2' })
    await control.settle()
    expect((await deploymentOf())?.spec?.template?.spec?.containers).toMatchObject([
      { name: 'lb-svc', image: flags.image, securityContext: { privileged: false } },
    ])
    expect((await cluster.client.get(deployments, place))?.spec?.template?.metadata?.labels).toEqual(other)
    expect(await cluster.user.told('shop')).toEqual([
      expect.stringContaining('or delete the Deployment lb-svc-shop, which is another one'),
    ])
    // No Service asks for it.
    expect(await cluster.client.get(deployments, { namespace, name: 'lb-svc-gone' })).toBeUndefined()
  })
})

describe('what can not be used', () => {
  it('is told once, what was made stays, and other Services are served', async () => {
    await using control = await start()
    await serve(control)
    await cluster.client.create(vipResource, vip({ name: 'inside', subnet: 'ovn-default' }))
    const annotate = (annotations: object) => ({ metadata: { annotations } })
    const { attachmentProvider, attachmentVip, logicalSwitch } = serviceAnnotations
    const cure = 'write a Subnet for Pods that is there, or remove it'
    const edits: readonly (readonly [object, string])[] = [
      [annotate({ [attachmentProvider.key]: 'street' }), `field=${attachmentProvider.key} value=street)`],
      [
        annotate({ [attachmentProvider.key]: 'lane.default' }),
        'create the NetworkAttachmentDefinition lane in',
      ],
      [
        annotate({ ...attached, [nic.logicalSwitch.key]: 'ovn-default' }),
        'write a Subnet with the provider street.default',
      ],
      [
        { ...annotate({ [nic.logicalSwitch.key]: null }), spec: { loadBalancerIP: 'here' } },
        'field=spec.loadBalancerIP value=here); write an address',
      ],
      [{ spec: { loadBalancerIP: '10.9.9.9' } }, 'value=10.9.9.9); write an address of Subnet street'],
      [
        { spec: { loadBalancerIP: null }, ...annotate({ [attachmentVip.key]: 'nobody' }) },
        `field=${attachmentVip.key} value=nobody); create the Vip`,
      ],
      [
        annotate({ [attachmentVip.key]: 'inside' }),
        'write a Vip of a Subnet with the provider street.default',
      ],
      [
        annotate({ [attachmentVip.key]: null, [logicalSwitch.key]: 'nowhere' }),
        `field=${logicalSwitch.key} value=nowhere); ${cure}`,
      ],
      [annotate({ [logicalSwitch.key]: 'join' }), `value=join); ${cure}`],
      [annotate({ [logicalSwitch.key]: 'street' }), `value=street); ${cure}`],
    ]
    const template = (await deploymentOf())?.spec?.template
    for (const [change, told] of edits) {
      await edit(change)
      await control.settle()
      expect((await cluster.user.told('web')).join('\n')).toContain(told)
      expect([(await deploymentOf())?.spec?.template, await published()]).toEqual([template, ['172.28.0.2']])
    }
    expect(await cluster.user.told('web')).toHaveLength(edits.length)
    await create({ name: 'shop', clusterIP: '10.96.100.2' })
    await control.settle()
    expect(await cluster.client.get(deployments, { namespace, name: 'lb-svc-shop' })).toBeDefined()
  })

  it('is an address that another Service has: it is told so, and gets the address when that one goes', async () => {
    await using control = await start()
    await serve(control, { loadBalancerIP: '172.28.0.18' })
    await create({ name: 'shop', clusterIP: '10.96.100.2', loadBalancerIP: '172.28.0.18' })
    await control.settle()
    expect(await cluster.user.told('shop')).toEqual([
      expect.stringContaining('see the condition Ready of Vip lb-svc-shop.default'),
    ])
    await cluster.removePod('one', namespace)
    await cluster.client.remove(services, web)
    await control.settle()
    const { spec } = (await cluster.client.get(deployments, { namespace, name: 'lb-svc-shop' })) ?? {}
    expect(spec?.template?.metadata?.annotations?.[nic.ipAddress.key]).toMatch(/^172\.28\.0\.18,/)
  })
})
