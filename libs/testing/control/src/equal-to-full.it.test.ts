import { controlFeatures } from '@kube-ovn/assembly-controller'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { nothing } from '@kube-ovn/reconcile'
import { node, pod } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { ControlCluster } from './control-cluster.ts'
import { NotEqualToFullError, UnadoptableError, UndeclaredError } from './errors.ts'

const cluster = ControlCluster.ofSuite()

it('fails the test of a feature that misses a change', async () => {
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
  await using control = await cluster.startController()
  await control.settle()

  // No trigger tells that settings change, as they never do while a controller runs.
  const { flags } = control.world.settings
  const { lsDnatModDlDst } = flags
  Object.assign(flags, { lsDnatModDlDst: lsDnatModDlDst !== true })
  await expect(control.settle()).rejects.toThrow(NotEqualToFullError)
  await expect(control.settle()).rejects.toThrow(/^nb-options\//m)
  Object.assign(flags, { lsDnatModDlDst })
  await control.settle()
})

it('fails the test of a feature whose rows would not be adopted', async () => {
  await using control = await cluster.startController()
  await control.settle()
  await cluster.northbound.nbctl(
    ...['lsp-add', 'ovn-default', 'web', '--', 'set', 'Logical_Switch_Port', 'web'],
    ...['vendor=kube-ovn', 'owner=another/web', 'id=lsp/web'].map((mark) => `external_ids:${mark}`),
  )
  await expect(control.settle()).rejects.toThrow(UnadoptableError)
  await expect(control.settle()).rejects.toThrow('another/web: lsp/web seems to be lsp-eip/web')
})

it('fails the test of a feature that reads what it does not declare', async () => {
  const curious: ControlFeature = {
    ...{ name: 'curious', kinds: [] },
    triggers: [{ on: 'object', resource: nodes, keys: ({ key }) => [key] }],
    observe: (_key, world) => world.pods.size,
    desired: () => nothing,
  }
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  await using control = await cluster.startController({ features: [...controlFeatures, curious] })
  await expect(control.settle()).rejects.toThrow(UndeclaredError)
  await expect(control.settle()).rejects.toThrow(/^curious reads pods\.$/m)
})
