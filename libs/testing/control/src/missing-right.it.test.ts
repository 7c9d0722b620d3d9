import { nodes, pods } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { node, pod } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { ControlCluster } from './control-cluster.ts'
import { MissingRightError } from './errors.ts'

const cluster = ControlCluster.ofSuite()

interface Rule {
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

const clusterRoles: Resource<KubeObject & { readonly rules: readonly Rule[] }> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
}

/** Takes a right from the controller, as a chart would that forgot it, and waits until it is gone. */
async function take(verb: string, resource: string): Promise<void> {
  const role = await cluster.client.get(clusterRoles, { name: 'system:ovn' })
  const rules = (role?.rules ?? []).flatMap((rule) => [
    { ...rule, resources: rule.resources.filter((one) => one !== resource) },
    ...(rule.resources.includes(resource)
      ? [{ ...rule, resources: [resource], verbs: rule.verbs.filter((one) => one !== verb) }]
      : []),
  ])
  await cluster.client.patch(clusterRoles, { name: 'system:ovn' }, 'application/merge-patch+json', {
    rules: rules.filter(({ resources }) => resources.length > 0),
  })
  await cluster.api.untilMissing('kube-system/ovn', verb, resource)
}

it.each(['list', 'watch'])('fails a test when the controller may not %s what it needs', async (verb) => {
  await take(verb, 'vpcs')
  async function live(): Promise<void> {
    await using control = await cluster.startController()
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
  }
  const failure = await live().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(MissingRightError)
  expect(String(failure)).toMatch(new RegExp(`may ${verb} vpcs|cannot ${verb} resource "vpcs"`))
})

it('fails a test when the controller may not write what it decided', async () => {
  await take('patch', 'nodes')
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11'] }))
  await using control = await cluster.startController()
  await expect(control.settle()).rejects.toThrow(/cannot patch resource "nodes"|may patch nodes/)
})

it('has all rights again after a reset', async () => {
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11'] }))
  await using control = await cluster.startController()
  await control.settle()
  expect(control.problems()).toEqual([])
})
