import { namespaces, networkPolicies, pods } from '@kube-ovn/kube-api/core'
import { namespace, pod } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
  for (const app of ['web', 'friend'])
    await cluster.client.create(pods, pod({ name: app, namespace: 'shop', node: 'n1', labels: { app } }))
  await cluster.client.create(networkPolicies, {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }] }],
    },
  })
})

function allowedIn(control: Controller): readonly string[] | undefined {
  return control.named('Address_Set', 'web.shop.ingress.allow.IPv4.0')?.addresses
}

function label(name: string, app: string): Promise<unknown> {
  const change = { metadata: { labels: { app } } }
  return cluster.client.patch(pods, { namespace: 'shop', name }, 'application/merge-patch+json', change)
}

it('is about a pod no more that lost its label while nobody looked, whatever else is pending', async () => {
  {
    await using control = await cluster.startSettled()
    expect(allowedIn(control)).toHaveLength(1)
  }
  await label('friend', 'stranger')
  const annotations = { 'ovn.kubernetes.io/logical_switch': 'nowhere' }
  await cluster.client.create(pods, pod({ name: 'pending', namespace: 'shop', node: 'n1', annotations }))
  await using control = await cluster.startSettled()
  expect(allowedIn(control)).toEqual([])
})

it('restricts a pod that runs whatever networks it asks for by now, and lets it in no more without its label', async () => {
  await using control = await cluster.startSettled()
  expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['web.shop'])
  const asked = { 'k8s.v1.cni.cncf.io/networks': 'gone' }
  for (const name of ['web', 'friend']) await cluster.user.annotate({ name, namespace: 'shop' }, asked)
  await label('friend', 'stranger')
  await cluster.client.create(networkPolicies, {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    metadata: { name: 'late', namespace: 'shop' },
    spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
  })
  await control.settle()
  expect(control.portsOf('Port_Group', 'late.shop')).toEqual(['friend.shop', 'web.shop'])
  expect(allowedIn(control)).toEqual([])
})
