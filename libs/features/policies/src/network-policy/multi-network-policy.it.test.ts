import { multiNetworkPolicyResource, networkAttachmentResource, subnetResource } from '@kube-ovn/kube-api'
import type { MultiNetworkPolicy } from '@kube-ovn/kube-api'
import { namespaces, networkPolicies, pods } from '@kube-ovn/kube-api/core'
import { namespace, pod, subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
const policyFor = 'k8s.v1.cni.cncf.io/policy-for'
const nothing = { transactions: 0, writes: [] }
const ref = { namespace: 'shop', name: 'web' }
const provider = 'storage.shop.ovn'

beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
  const attachment = {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'shop', name: 'storage' },
    spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: 'kube-ovn', provider }) },
  }
  await cluster.client.create(networkAttachmentResource, attachment)
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'storage', cidrBlock: '10.17.0.0/16,fd00:10:17::/112', provider }),
  )
})

function multi(networks: string): MultiNetworkPolicy {
  return {
    apiVersion: 'k8s.cni.cncf.io/v1beta1',
    kind: 'MultiNetworkPolicy',
    metadata: { ...ref, annotations: { [policyFor]: networks } },
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }] }],
    },
  }
}

async function createPods(...names: readonly string[]): Promise<void> {
  for (const name of names) await createPod(name, 'storage')
}

async function createPod(name: string, networks: string): Promise<void> {
  const annotations = { 'k8s.v1.cni.cncf.io/networks': networks }
  const labels = { app: name }
  await cluster.client.create(pods, pod({ name, namespace: 'shop', node: 'n1', labels, annotations }))
}

function groupsOf(control: Controller): Readonly<Record<string, readonly string[]>> {
  const rows = control.rows('Port_Group', 'name', 'external_ids')
  const own = rows.filter(({ external_ids: ids }) => ids['np'] === 'shop/web')
  return Object.fromEntries(own.map(({ name }) => [name, control.portsOf('Port_Group', name)]))
}

function addressesFrom(control: Controller): readonly string[] {
  const sets = control.rows('Address_Set', 'name', 'addresses')
  return sets.filter(({ name }) => name.includes('.ingress.allow.')).flatMap(({ addresses }) => addresses)
}

const secondary = (name: string): string => `${name}.shop.${provider}`

it('restricts NICs in the networks that it names, and peers are addresses there', async () => {
  await using control = await cluster.startSettled()
  await createPods('web', 'friend')
  await cluster.client.create(multiNetworkPolicyResource, multi('storage'))
  await control.settle()
  const [[group = '', ports = []] = []] = Object.entries(groupsOf(control))
  expect(group).toMatch(/^web\.shop_/)
  expect(ports).toEqual([secondary('web')])
  const friend = await cluster.client.get(pods, { namespace: 'shop', name: 'friend' })
  const ofFriend = friend?.metadata.annotations?.[`${provider}.kubernetes.io/ip_address`]?.split(',')
  expect([...addressesFrom(control)].sort()).toEqual([...(ofFriend ?? [])].sort())
  const drops = control
    .rows('ACL', 'match', 'action')
    .filter(({ action, match }) => action === 'drop' && match.includes(group))
  expect(drops.map(({ match }) => match)).toEqual([`outport == @${group} && ip`])

  await cluster.client.patch(multiNetworkPolicyResource, ref, 'application/merge-patch+json', {
    metadata: { annotations: { [policyFor]: 'elsewhere/storage' } },
  })
  await control.settle()
  expect(groupsOf(control)).toEqual({ [group]: [] })
  await cluster.client.remove(multiNetworkPolicyResource, ref)
  await control.settle()
  expect([groupsOf(control), addressesFrom(control)]).toEqual([{}, []])
})

it('stands beside a NetworkPolicy of its name, whatever comes first, and survives a restart', async () => {
  await cluster.client.create(multiNetworkPolicyResource, multi('storage'))
  await createPods('web', 'friend')
  let before: ReturnType<typeof groupsOf>
  {
    await using control = await cluster.startSettled()
    const spec = { podSelector: { matchLabels: { app: 'web' } } }
    await cluster.client.create(networkPolicies, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      ...{ metadata: ref, spec },
    })
    await control.settle()
    before = groupsOf(control)
    expect(before['web.shop']).toEqual(['web.shop', secondary('web')])
    expect(Object.values(before)).toHaveLength(2)
  }
  await using control = await cluster.startController()
  await cluster.forgetCosts()
  await control.settle()
  expect(await cluster.costs()).toEqual(nothing)
  expect(groupsOf(control)).toEqual(before)
  await cluster.client.remove(networkPolicies, ref)
  await control.settle()
  const { 'web.shop': _, ...rest } = before
  expect(groupsOf(control)).toEqual(rest)
})

it('restricts a pod from the transaction on that makes its NIC', async () => {
  await cluster.client.create(multiNetworkPolicyResource, multi('storage'))
  await using control = await cluster.startSettled()
  await cluster.forgetCosts()
  await createPods('web')
  await control.settle()
  expect((await cluster.costs()).transactions).toBe(1)
  expect(Object.values(groupsOf(control))).toEqual([[secondary('web')]])
  expect(control.rows('ACL', 'action').map(({ action }) => action)).toContain('drop')
})

it('restricts each of several NICs that a pod has in the network, as other policies do', async () => {
  await using control = await cluster.startSettled()
  await createPod('web', 'storage@net1,storage@net2')
  await createPod('friend', 'storage@net1,storage@net2')
  await cluster.client.create(multiNetworkPolicyResource, multi('storage'))
  const spec = { podSelector: { matchLabels: { app: 'web' } } }
  await cluster.client.create(networkPolicies, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    ...{ metadata: ref, spec },
  })
  await control.settle()
  const { 'web.shop': ofPlain, ...others } = groupsOf(control)
  const both = [`${secondary('web')}.net1`, `${secondary('web')}.net2`]
  expect([...(ofPlain ?? [])].sort()).toEqual(['web.shop', ...both])
  expect(Object.values(others).map((ports) => [...ports].sort())).toEqual([both])
  // Of both NICs of the friend, in both families.
  expect(addressesFrom(control)).toHaveLength(4)
})

it('that names no network is about none, and its user is told', async () => {
  await createPods('web')
  await cluster.client.create(multiNetworkPolicyResource, multi(''))
  await using control = await cluster.startSettled()
  expect(Object.values(groupsOf(control))).toEqual([[]])
  const events = await cluster.user.told('web')
  expect(events).toContainEqual(expect.stringContaining(policyFor))
})
