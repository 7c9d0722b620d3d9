import { nicKey, primaryProvider } from '@kube-ovn/annotations'
import { subnetResource, vpcResource } from '@kube-ovn/kube-api'
import type { Condition } from '@kube-ovn/kube-api'
import { events, namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { namespace, node, subnet } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

const quiet = { transactions: 0, writes: [] }
const prefixes = '10.30.0.0/24,fd00:30::/120'

async function conditionsOf(resource: Resource, name: string): Promise<readonly Condition[]> {
  const object:
    (KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }) | undefined =
    await cluster.client.get(resource, { name })
  return object?.status?.conditions ?? []
}

async function ignoredMessage(resource: Resource, name: string): Promise<string | undefined> {
  return (await conditionsOf(resource, name)).find(({ type }) => type === 'FieldsIgnored')?.message
}

/** Events that tell of what has no effect, as `kind/name message count`. */
async function told(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items
    .filter(({ reason = '' }) => ['FieldsIgnored', 'AnnotationIgnored'].includes(reason))
    .map(({ involvedObject: { kind, name }, message, count }) => `${kind}/${name} ${message} ${count}`)
    .sort()
}

async function oneLife(): Promise<void> {
  await using control = await cluster.startController()
  await control.settle()
}

function isReady(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

it('tells of the fields of a Subnet that have no effect, once for each change, and leaves it Ready', async () => {
  const { client } = cluster
  const plain = {
    cidrBlock: prefixes,
    nodeNetwork: '',
    gatewayNodeSelectors: [],
    natOutgoing: true,
  }
  await client.create(subnetResource, subnet({ name: 'plain', ...plain }))
  await client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock: '10.31.0.0/24,fd00:31::/120', nodeNetwork: 'cargo' }),
  )
  {
    await using control = await cluster.startController()
    await control.settle()
    expect(await ignoredMessage(subnetResource, 'plain')).toBeUndefined()
    const first =
      'spec.nodeNetwork "cargo" without effect: a network of the nodes\' own for tunnels of a subnet is not there yet; tunnels end where the node\'s others do: remove it. See "Not there yet" in docs/differences.md'
    expect(await ignoredMessage(subnetResource, 'blue')).toBe(first)
    expect(isReady(await conditionsOf(subnetResource, 'blue'))).toBe(true)
    expect(await told()).toEqual([`Subnet/blue ${first} 1`])

    const patch = { spec: { nodeNetwork: 'storage' } }
    await client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', patch)
    await control.settle()
    const second = await ignoredMessage(subnetResource, 'blue')
    expect(second).toContain('spec.nodeNetwork "storage" without effect')
    expect(await told()).toEqual([`Subnet/blue ${first} 1`, `Subnet/blue ${second} 1`])
    await cluster.forgetCosts()
  }
  await oneLife()
  expect(await cluster.costs()).toEqual(quiet)

  await using control = await cluster.startController()
  await control.settle()
  const cured = { spec: { nodeNetwork: '' } }
  await client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', cured)
  await control.settle()
  expect(await ignoredMessage(subnetResource, 'blue')).toBeUndefined()
  expect(isReady(await conditionsOf(subnetResource, 'blue'))).toBe(true)
})

it('tells of a VPC that is left alone, and of annotations of the default one', async () => {
  const { client } = cluster
  const apiVersion = 'kubeovn.io/v1'
  const labels = { 'ovn.kubernetes.io/vpc_external': 'true' }
  const annotations = { 'ovn.kubernetes.io/vpc_lb': 'on' }
  const other = { apiVersion, kind: 'Vpc', metadata: { name: 'vpc-1', labels } }
  await client.create(vpcResource, {
    apiVersion,
    kind: 'Vpc',
    metadata: { name: 'ovn-cluster', annotations },
  })
  await client.create(vpcResource, other)
  await oneLife()
  expect(await ignoredMessage(vpcResource, 'ovn-cluster')).toContain(
    'annotation ovn.kubernetes.io/vpc_lb "on" without effect: a Pod by which a VPC reaches Services of others is not there yet',
  )
  expect(await ignoredMessage(vpcResource, 'vpc-1')).toContain('metadata.name "vpc-1"')
  expect(await told()).toHaveLength(2)
  await cluster.forgetCosts()
  await oneLife()
  expect(await cluster.costs()).toEqual(quiet)
})

it('tells Pods of annotations and Nodes of labels without effect, once', async () => {
  const { client, user } = cluster
  const key = (name: string) => nicKey(primaryProvider, name)
  await client.create(namespaces, namespace({ name: 'shop' }))
  const labels = { [key('external-gw')]: 'true', [key('ic-gw')]: 'true' }
  await client.create(nodes, node({ name: 'n1', labels }))
  const annotations = {
    [key('snat')]: '172.18.0.5',
    [key('pod_nic_type')]: 'dpdk-port',
    [key('eip')]: '0',
    'other.example.kubernetes.io/pod_nic_type': 'dpdk-port',
  }
  await user.createPod({ name: 'web', namespace: 'shop', annotations })
  await user.createPod({ name: 'host', namespace: 'shop', annotations, hostNetwork: true })
  await oneLife()
  const expected = [
    expect.stringMatching(/^Node\/n1 label .*\/ic-gw "true" without effect: interconnection of clusters/),
    expect.stringMatching(
      /^Pod\/web annotation ovn.*\/pod_nic_type "dpdk-port" without effect: a NIC that is no veth pair.* 1$/,
    ),
    expect.stringMatching(
      /^Pod\/web annotation .*\/snat "172.18.0.5" without effect: a gateway to an external network.* 1$/,
    ),
  ]
  expect(await told()).toEqual(expected)
  await cluster.forgetCosts()
  await oneLife()
  expect(await cluster.costs()).toEqual(quiet)

  await using control = await cluster.startController()
  await control.settle()
  const edit = { metadata: { annotations: { [key('snat')]: null, [key('eip')]: '172.18.0.6' } } }
  await client.patch(pods, { namespace: 'shop', name: 'web' }, 'application/merge-patch+json', edit)
  await control.settle()
  expect(await told()).toEqual([
    ...expected.slice(0, 1),
    expect.stringMatching(
      /^Pod\/web annotation .*\/eip "172.18.0.6" without effect: a gateway to an external network/,
    ),
    ...expected.slice(1),
  ])

  // What is gone is told of no more; what comes in its place is.
  const before = await told()
  await cluster.removePod('web', 'shop')
  await client.remove(nodes, { name: 'n1' })
  await control.settle()
  expect(await told()).toEqual(before)
  await client.create(nodes, node({ name: 'n1', labels: { [key('ic-gw')]: 'true' } }))
  await control.settle()
  expect((await told()).filter((text) => text.startsWith('Node/n1 label'))).toHaveLength(2)
})
