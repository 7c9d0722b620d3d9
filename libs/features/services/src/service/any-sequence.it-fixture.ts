import { nodeAnnotations, nodeLabel, podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import {
  ovnEipResource,
  providerNetworkResource,
  routerLbRuleResource,
  serviceL2StatusResource,
  subnetResource,
  switchLbRuleResource,
  vipResource,
  vlanResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import { endpointSlices, nodes, serviceCidrs, services } from '@kube-ovn/kube-api/core'
import type { Endpoint } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  node,
  ovnEip,
  providerNetwork,
  routerLbRule,
  service,
  subnet,
  switchLbRule,
  vip,
  vlan,
  vpc,
} from '@kube-ovn/testing-builders'
import type { ControlCluster } from '@kube-ovn/testing-control'
import {
  addressesOf,
  backends,
  chosenVips,
  conditionsOf,
  nodeNames,
  subnets,
  yard,
  zoneOf,
  announcersNamespace,
  type Name,
  type Stack,
  type Step,
} from './steps.it-fixture.ts'

const type = 'application/merge-patch+json'
const ruleKinds = { slr: switchLbRuleResource, rlr: routerLbRuleResource } as const

const refusals: readonly string[] = [
  ...['kube-not-found', 'kube-already-exists', 'kube-conflict'],
  // What is asked of a Service that has no addresses.
  'kube-invalid',
]

/** A step that is refused, as what it is about is not there or there already, changes nothing. */
async function attempt(write: () => Promise<unknown>): Promise<void> {
  await write().catch((error: unknown) => {
    const isRefused = error instanceof KubeOvnError && refusals.includes(error.code)
    if (!isRefused) throw error
  })
}

function clusterAddresses(of: Name, stack: Stack) {
  const [v4, v6] = addressesOf[of]
  const clusterIPs = { IPv4: [v4], IPv6: [v6], both: [v4, v6] }[stack]
  const [clusterIP = v4] = clusterIPs
  return {
    clusterIP,
    clusterIPs,
    ipFamilyPolicy: stack === 'both' ? 'PreferDualStack' : 'SingleStack',
  } as const
}

const first: readonly Step[] = [
  { what: 'service', name: 'a', stack: 'both', port: 80, protocol: 'TCP' },
  { what: 'door', name: 'a', type: 'LoadBalancer', policy: 'Local' },
  { what: 'ingress', name: 'a', ips: ['172.18.0.200'], ipMode: 'VIP' },
  { what: 'service', name: 'b', stack: 'IPv4', port: 80, protocol: 'TCP' },
  ...(['a', 'b'] as const).map((of): Step => {
    const ends = (['p1', 'p2'] as const).map((one) => ({ of: one, is: 'ready' as const }))
    const slice = { owner: of, family: 'IPv4', part: 1, isNew: true, ends, hints: null } as const
    return { what: 'slice', ...slice, protocol: 'TCP' }
  }),
]

/**
 * What is there from the beginning: nodes that have told what OVN calls them, a way outside, an underlay, a Service with a door and one without.
 */
export async function setScene(cluster: ControlCluster): Promise<void> {
  const { client, user } = cluster
  await user.createNodes(...nodeNames)
  for (const name of nodeNames) {
    const annotations = { [nodeAnnotations.chassis.key]: `chassis-${name}` }
    const labels = { [nodeLabel.zone]: zoneOf[name] }
    await client.patch(nodes, { name }, type, { metadata: { annotations, labels } })
  }
  await client.create(
    subnetResource,
    subnet({ name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' }),
  )
  await client.create(ovnEipResource, ovnEip({ externalSubnet: 'external' }))
  await client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await client.create(vlanResource, vlan({ name: 'v10', id: 10, provider: 'quay' }))
  const led = { enableExternalLBAddress: true, u2oInterconnection: true }
  const given = { cidrBlock: '172.19.0.0/24', vlan: 'v10', excludeIps: ['172.19.0.200..172.19.0.220'] }
  await client.create(subnetResource, subnet({ name: yard, ...given, ...led }))
  for (const next of first) await carryOut(next, cluster)
}

/** Does what a step says, but for what is done to the controller. */
export async function carryOut(next: Step, cluster: ControlCluster): Promise<void> {
  const { client } = cluster
  const create = <T extends KubeObject>(resource: Resource<T>, object: T) =>
    attempt(() => client.create(resource, object))
  const remove = <T extends KubeObject>(resource: Resource<T>, ref: { name: string; namespace?: string }) =>
    attempt(() => client.remove(resource, ref))
  const inDefault = (of: string) => ({ namespace: 'default', name: of })
  const edit = (of: Name, change: object) =>
    attempt(() => client.patch(services, inDefault(of), type, { ...change }))
  const sliceName = ({
    owner: of,
    family: on,
    part: nth,
  }: Pick<Step & { what: 'slice' }, 'owner' | 'family' | 'part'>) => `${of}-${on.toLowerCase()}-${nth}`
  const tellStatus = <T extends KubeObject>(
    resource: Resource<T>,
    ref: { name: string; namespace?: string },
    status: object,
  ) => attempt(() => client.patch(resource, ref, type, { status: { ...status } }, { subresource: 'status' }))
  const checkKey = serviceAnnotations.healthCheck.key

  switch (next.what) {
    case 'service': {
      const first = { port: next.port, protocol: next.protocol }
      const second = { name: 'more', port: 82, protocol: 'UDP' } as const
      const ports = next.isTwofold === true ? [{ ...first, name: 'any' }, second] : [first]
      if ((await client.get(services, inDefault(next.name))) !== undefined)
        return edit(next.name, { spec: { ports } })
      return create(services, service({ name: next.name, ports, ...clusterAddresses(next.name, next.stack) }))
    }
    case 'turn': {
      await edit(next.name, { spec: { type: 'ExternalName', externalName: 'elsewhere.example.com' } })
      if (next.to === 'name') return
      const addresses = next.to === 'headless' ? { clusterIP: 'None' } : clusterAddresses(next.name, next.to)
      return edit(next.name, { spec: { type: 'ClusterIP', externalName: null, ...addresses } })
    }
    case 'door': {
      const externalTrafficPolicy = next.type === 'ClusterIP' ? null : next.policy
      return edit(next.name, { spec: { type: next.type, externalTrafficPolicy } })
    }
    case 'ingress': {
      const ingress = next.ips.map((ip) => ({ ip, ipMode: next.ipMode }))
      return tellStatus(services, inDefault(next.name), { loadBalancer: { ingress } })
    }
    case 'attach': {
      const annotations = {
        [serviceAnnotations.attachmentProvider.key]: next.isAttached ? 'a.default' : null,
      }
      return edit(next.name, { metadata: { annotations } })
    }
    case 'announce': {
      const ref = { namespace: announcersNamespace, name: `l2-${next.name}` }
      if (next.node === null) return remove(serviceL2StatusResource, ref)
      const kind = { apiVersion: 'metallb.io/v1beta1', kind: 'ServiceL2Status' }
      await create(serviceL2StatusResource, { ...kind, metadata: ref })
      const of = { serviceNamespace: 'default', serviceName: next.name }
      return tellStatus(serviceL2StatusResource, ref, { node: next.node, ...of })
    }
    case 'families':
      return edit(next.name, { spec: { ipFamilyPolicy: next.policy } })
    case 'affinity': {
      const clientIP = { timeoutSeconds: next.seconds }
      const spec =
        next.seconds === null
          ? { sessionAffinity: 'None', sessionAffinityConfig: null }
          : { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP } }
      return edit(next.name, { spec })
    }
    case 'policy':
      return edit(next.name, {
        spec: { internalTrafficPolicy: next.policy, trafficDistribution: next.distribution },
      })
    case 'vpc': {
      const { logicalRouter, logicalSwitch, vpc: written } = serviceAnnotations
      const said = next.vpc === '' ? null : next.vpc
      const annotations =
        next.by === 'vpc'
          ? { [written.key]: said }
          : { [logicalRouter.key]: said, [logicalSwitch.key]: said === null ? null : 'rose' }
      return edit(next.name, { metadata: { annotations } })
    }
    case 'check':
      return edit(next.name, { metadata: { annotations: { [checkKey]: next.says } } })
    case 'check of rule':
      return attempt(() =>
        client.patch(ruleKinds[next.kind], { name: next.rule }, type, {
          metadata: { annotations: { [checkKey]: next.says } },
        }),
      )
    case 'slice': {
      const at = next.family === 'IPv6' ? 1 : 0
      const each = next.ends.map(({ of, is: state }): Endpoint => {
        const { node: nodeName, addresses } = backends[of]
        const near = next.hints === 'forNodes' ? nodeName : zoneOf[nodeName]
        return {
          ...{ addresses: [addresses[at]], conditions: conditionsOf[state], nodeName },
          ...(next.hints === null ? {} : { hints: { [next.hints]: [{ name: near }] } }),
        }
      })
      const [leader] = each
      const joined = leader && [{ ...leader, addresses: each.flatMap(({ addresses }) => addresses) }]
      const endpoints = next.isJoined === true ? (joined ?? []) : each
      // Ports of rules have a name.
      const ports = [
        ...['', 'any'].map((portName) => ({ name: portName, port: 8080, protocol: next.protocol })),
        { name: 'more', port: 8081, protocol: 'UDP' as const },
      ]
      const ref = inDefault(sliceName(next))
      if (next.isNew) await remove(endpointSlices, ref)
      else if ((await client.get(endpointSlices, ref)) !== undefined)
        return attempt(() => client.patch(endpointSlices, ref, type, { endpoints, ports }))
      return create(
        endpointSlices,
        endpointSlice({ ...ref, service: next.owner, addressType: next.family, endpoints, ports }),
      )
    }
    case 'pod': {
      const { node: on, subnet: logicalSwitch, addresses } = backends[next.pod]
      // Nobody binds a pod to a node that is gone, and Kubernetes collects those that are left there.
      if ((await client.get(nodes, { name: on })) === undefined) return
      const keys = podAnnotations()
      const annotations = {
        [keys.logicalSwitch.key]: logicalSwitch,
        [keys.ipAddress.key]: addresses.join(','),
      }
      return attempt(() => cluster.user.createPod({ name: next.pod, node: on, annotations }))
    }
    case 'node': {
      const addresses = ['172.18.0.21', 'fd00:18::21']
      await create(nodes, node({ name: next.node, addresses }))
      const annotations = { [nodeAnnotations.chassis.key]: next.isTold ? `chassis-${next.node}` : null }
      const metadata = { annotations, labels: { [nodeLabel.zone]: next.zone } }
      return attempt(() => client.patch(nodes, { name: next.node }, type, { metadata }))
    }
    case 'renumber':
      return attempt(() => cluster.user.renumberNode(next.node, `172.18.0.${next.to}`, `fd00:18::${next.to}`))
    case 'remove node':
      return remove(nodes, { name: next.node })
    case 'yard': {
      const { what: _, ...spec } = next
      return attempt(() => cluster.user.edit(subnetResource, yard, spec))
    }
    case 'prefix': {
      const ref = { name: 'more' }
      const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' }
      await create(serviceCidrs, { ...kind, metadata: ref, spec: { cidrs: ['10.200.0.0/24'] } })
      const told = { reason: 'Told', message: 'as told', lastTransitionTime: '2026-01-01T00:00:00Z' }
      return tellStatus(serviceCidrs, ref, { conditions: [{ type: 'Ready', status: 'True', ...told }] })
    }
    case 'remove prefix':
      return remove(serviceCidrs, { name: 'more' })
    case 'remove pod':
      return attempt(() => cluster.removePod(next.pod))
    case 'subnet':
      return create(subnetResource, subnet({ name: next.subnet, ...subnets[next.subnet] }))
    case 'remove subnet':
      return remove(subnetResource, { name: next.subnet })
    case 'enable':
      return attempt(() => cluster.user.edit(subnetResource, next.subnet, { enableLb: next.enableLb }))
    case 'move subnet': {
      const red = await client.get(vpcResource, { name: 'red' })
      if (red === undefined || red.metadata.deletionTimestamp !== undefined) return
      return attempt(() => cluster.user.edit(subnetResource, 'blue', { vpc: next.vpc }))
    }
    case 'vip':
      return create(vipResource, vip({ name: next.subnet, subnet: next.subnet }))
    case 'remove vip':
      return remove(vipResource, { name: next.subnet })
    case 'rule': {
      const ports = [{ name: 'any', port: next.port, targetPort: 8080 }]
      const sessionAffinity = next.isSticky === true ? 'ClientIP' : 'None'
      const at = { name: next.rule }
      const { vip: address = chosenVips[0] } = next
      const spec = { ports, sessionAffinity, ...(next.kind === 'slr' ? { vip: address } : {}) }
      if ((await client.get(ruleKinds[next.kind], at)) !== undefined)
        return attempt(() => client.patch(ruleKinds[next.kind], at, type, { spec }))
      return next.kind === 'slr'
        ? create(switchLbRuleResource, switchLbRule({ ...at, ...spec, vip: address }))
        : create(routerLbRuleResource, routerLbRule({ ...at, ...spec }))
    }
    case 'router of rule': {
      const { logicalRouter, logicalSwitch } = serviceAnnotations
      const annotations = {
        [logicalRouter.key]: next.vpc,
        [logicalSwitch.key]: next.vpc === null ? null : 'rose',
      }
      return attempt(() =>
        client.patch(switchLbRuleResource, { name: next.rule }, type, { metadata: { annotations } }),
      )
    }
    case 'choose':
      return edit(next.name, {
        metadata: { annotations: { [serviceAnnotations.switchLbVip.key]: next.vip } },
      })
    case 'remove rule':
      return remove(ruleKinds[next.kind], { name: next.rule })
    case 'remove service':
      return remove(services, inDefault(next.name))
    case 'remove slice':
      return remove(endpointSlices, inDefault(sliceName(next)))
    case 'create vpc':
      return create(vpcResource, vpc({ name: 'red' }))
    case 'remove vpc':
      return remove(vpcResource, { name: 'red' })
    default:
  }
}
