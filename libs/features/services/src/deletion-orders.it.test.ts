import { podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import {
  ipResource,
  networkAttachmentResource,
  ovnEipResource,
  routerLbRuleResource,
  subnetResource,
  switchLbRuleResource,
  vipResource,
  vpcDnsResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import {
  configMaps,
  deployments,
  endpoints,
  endpointSlices,
  nodes,
  pods,
  services,
} from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  ovnEip,
  pod,
  routerLbRule,
  service,
  subnet,
  switchLbRule,
  vip,
  vpc,
  vpcDns,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const type = 'application/merge-patch+json'
const street = 'street.default'

type Thing = readonly [resource: Resource, name: string, namespace?: string]

interface Scene {
  create(control: Controller): Promise<void>
  /** Of users, and of Kubernetes for them. */
  readonly things: readonly Thing[]
  /** Of those: what is taken away is back as long as it is to be there. */
  readonly made: readonly Thing[]
}

function create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> {
  return cluster.client.create(resource, object)
}

async function createVpc(): Promise<void> {
  await create(vpcResource, vpc({ name: 'blue' }))
  await create(subnetResource, subnet({ name: 'blue-a', vpc: 'blue', cidrBlock: '10.30.0.0/24' }))
}

async function createNetwork(name: string, plugin: string): Promise<void> {
  const definition: KubeObject & { readonly spec: object } = {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name },
    spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: plugin }) },
  }
  await create(networkAttachmentResource, definition)
}

/** As the controllers of Kubernetes make one of a Service. */
async function fill(of: string, address: string, namespace = 'default'): Promise<void> {
  const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }] as const
  await create(
    endpointSlices,
    endpointSlice({ namespace, name: `${of}-1`, service: of, endpoints: [address], ports }),
  )
}

const scenes: Readonly<Record<string, Scene>> = {
  'a SwitchLBRule': {
    async create(control) {
      await createVpc()
      const annotations = { [podAnnotations().logicalSwitch.key]: 'blue-a' }
      await create(pods, pod({ name: 'w1', node: 'n1', annotations }))
      await create(
        vipResource,
        vip({ name: 'bell', subnet: 'blue-a', type: 'switch_lb_vip', v4ip: '10.30.0.200' }),
      )
      await create(switchLbRuleResource, switchLbRule({ vip: '10.30.0.200' }))
      await control.settle()
      await fill('slr-rule', await cluster.user.addressOf('w1'))
    },
    things: [
      [switchLbRuleResource, 'rule'],
      [endpointSlices, 'slr-rule-1', 'default'],
      [pods, 'w1', 'default'],
      [vipResource, 'bell'],
      [subnetResource, 'blue-a'],
      [vpcResource, 'blue'],
    ],
    made: [
      [services, 'slr-rule', 'default'],
      // From where its backends are asked.
      [vipResource, 'blue-a'],
    ],
  },
  'a RouterLBRule': {
    async create(control) {
      await create(
        subnetResource,
        subnet({ name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' }),
      )
      await create(vpcResource, vpc({ name: 'red', enableExternal: true }))
      await create(ovnEipResource, ovnEip({ externalSubnet: 'external', v4Ip: '10.5.204.50' }))
      await create(routerLbRuleResource, routerLbRule())
      await control.settle()
      await fill('rlr-rule', '10.30.0.2')
    },
    things: [
      [routerLbRuleResource, 'rule'],
      [endpointSlices, 'rlr-rule-1', 'default'],
      [ovnEipResource, 'eip'],
      [vpcResource, 'red'],
      [subnetResource, 'external'],
    ],
    made: [[services, 'rlr-rule', 'default']],
  },
  'a VpcDns': {
    async create(control) {
      await createVpc()
      await createNetwork('ovn-nad', 'kube-ovn')
      const data = { 'coredns-vip': '10.96.0.3', 'coredns-image': 'coredns:1', 'nad-name': 'ovn-nad' }
      await create(configMaps, { metadata: { namespace: 'kube-system', name: 'vpc-dns-config' }, data })
      await create(vpcDnsResource, vpcDns())
      await control.settle()
      await fill('slr-vpc-dns-dns', '10.30.0.8', 'kube-system')
    },
    things: [
      [vpcDnsResource, 'dns'],
      [endpointSlices, 'slr-vpc-dns-dns-1', 'kube-system'],
      [configMaps, 'vpc-dns-config', 'kube-system'],
      [networkAttachmentResource, 'ovn-nad', 'default'],
      [subnetResource, 'blue-a'],
      [vpcResource, 'blue'],
    ],
    made: [
      [deployments, 'vpc-dns-dns', 'kube-system'],
      [switchLbRuleResource, 'vpc-dns-dns'],
      [services, 'slr-vpc-dns-dns', 'kube-system'],
    ],
  },
  'a Service in an attached network': {
    async create(control) {
      await createNetwork('street', 'macvlan')
      await create(subnetResource, subnet({ name: 'street', cidrBlock: '172.28.0.0/24', provider: street }))
      const annotations = { [serviceAnnotations.attachmentProvider.key]: street }
      await create(
        services,
        service({ name: 'web', type: 'LoadBalancer', clusterIP: '10.96.100.1', annotations }),
      )
      await control.settle()
      const made = await cluster.client.get(deployments, { namespace: 'default', name: 'lb-svc-web' })
      const { labels, annotations: told } = made?.spec?.template?.metadata ?? {}
      await create(
        pods,
        pod({
          ...{ name: 'forwarder', node: 'n1', phase: 'Running' },
          ...(labels && { labels }),
          ...(told && { annotations: told }),
        }),
      )
    },
    things: [
      [services, 'web', 'default'],
      [pods, 'forwarder', 'default'],
      [networkAttachmentResource, 'street', 'default'],
      [subnetResource, 'street'],
    ],
    made: [[deployments, 'lb-svc-web', 'default']],
  },
}

const kinds: readonly Resource[] = [
  ...[services, endpoints, deployments, configMaps, pods, ipResource, vipResource, ovnEipResource],
  ...[switchLbRuleResource, routerLbRuleResource, vpcDnsResource, subnetResource, vpcResource],
]

/** What is there, by names: objects, and rows that any of them may have. */
async function present(control: Controller): Promise<readonly string[]> {
  const objects = await Promise.all(
    kinds.map(async (resource) =>
      (await cluster.client.list(resource)).items.map(
        ({ metadata: { namespace = '', name } }) => `${resource.kind} ${namespace}/${name}`,
      ),
    ),
  )
  const rows = (
    ['Load_Balancer', 'Logical_Switch', 'Logical_Router', 'Logical_Switch_Port'] as const
  ).flatMap((table) => control.rows(table, 'name').map(({ name }) => `${table} ${name}`))
  const checks = control.rows('Load_Balancer_Health_Check', 'vip').map(({ vip: of }) => `checks of ${of}`)
  return [...objects.flat(), ...rows, ...checks].sort()
}

/** Those of what belongs to it that are not there. */
async function missing(things: readonly Thing[]): Promise<readonly string[]> {
  const found = await Promise.all(
    things.map(([resource, ...of]) => cluster.client.get(resource, refOf(...of))),
  )
  return things.flatMap(([{ kind }, name], index) => (found[index] === undefined ? [`${kind} ${name}`] : []))
}

function refOf(name: string, namespace?: string): { readonly name: string; readonly namespace?: string } {
  return namespace === undefined ? { name } : { namespace, name }
}

async function remove([resource, name, namespace]: Thing): Promise<void> {
  if (resource === pods) return cluster.removePod(name, namespace)
  await cluster.client.remove(resource, refOf(name, namespace)).catch((error: unknown) => {
    // Its owner has gone, and it with that.
    if (!(error instanceof KubeOvnError) || error.code !== 'kube-not-found') throw error
  })
}

function start(): Promise<Controller> {
  return cluster.startController({
    flags: { enableLbSvc: true, image: 'kube-ovn/cni:1' },
    settings: { apiServerAddress: '10.96.0.1' },
  })
}

describe.each(Object.entries(scenes))('%s', (_name, scene) => {
  it(
    'leaves nothing behind, in whichever order what belongs to it goes, and whoever starts again in between',
    { timeout: isDeep ? 1_800_000 : 240_000 },
    async () => {
      const labels = { 'ovn.kubernetes.io/external-gw': 'true' }
      const annotations = { 'ovn.kubernetes.io/chassis': 'chassis-n1' }
      await cluster.client.patch(nodes, { name: 'n1' }, type, { metadata: { labels, annotations } })
      const all = [...scene.things, ...scene.made]
      const moments = fc.array(fc.constantFrom('settle', 'restart', 'go on'), {
        minLength: all.length,
        maxLength: all.length,
      })
      const order = fc.shuffledSubarray(all, { minLength: all.length })
      const property = fc.asyncProperty(order, moments, async (things, between) => {
        let control = await start()
        try {
          await control.settle()
          const before = await present(control)
          await scene.create(control)
          await control.settle()
          expect(await missing(all)).toEqual([])
          for (const [index, thing] of things.entries()) {
            await remove(thing)
            if (between[index] === 'settle') await control.settle()
            if (between[index] !== 'restart') continue
            await control[Symbol.asyncDispose]()
            control = await start()
          }
          await control.settle()
          expect(await present(control)).toEqual(before)
        } finally {
          await control[Symbol.asyncDispose]()
        }
      })
      const one = all.map(() => 'settle')
      await fc.assert(property, {
        ...(isDeep ? { numRuns: 60 } : { numRuns: 4, seed: 16 }),
        examples: [
          // What was made is left to who made it.
          [[...scene.things], one],
          [all.toReversed(), one],
        ],
        endOnFailure: true,
      })
    },
  )
})
