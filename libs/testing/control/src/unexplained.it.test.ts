import { expect, it } from 'vitest'
import { ControlCluster } from './control-cluster.ts'
import { UnexplainedError } from './errors.ts'

const cluster = ControlCluster.ofSuite()

it('fails the test of a feature whose rows kubectl ko explain does not know', async () => {
  await using control = await cluster.startSettled()
  const { northbound } = cluster
  const marks = ['vendor=kube-ovn', 'owner=gone-feature/blue'].map((mark) => `external_ids:${mark}`)
  await northbound.nbctl('create', 'Address_Set', 'name=gone', ...marks)
  await expect(control.settle()).rejects.toThrow(UnexplainedError)
  await expect(control.settle()).rejects.toThrow(
    /^Address_Set gone \{owner=gone-feature\/blue, vendor=kube-ovn\}: of gone-feature\/blue$/m,
  )
  // Nor once the mark is only upstream's, and no feature of ours has such rows.
  await northbound.nbctl('remove', 'Address_Set', 'gone', 'external_ids', 'owner')
  await expect(control.settle()).rejects.toThrow(
    /^Address_Set gone \{vendor=kube-ovn\}: of kube-ovn, not adopted yet$/m,
  )
})

it('lets be what tests put there: rows of others, and what they declare', async () => {
  await using control = await cluster.startSettled()
  const { northbound } = cluster
  await northbound.nbctl('create', 'Address_Set', 'name=theirs', 'external_ids:owned-by=somebody')
  await northbound.nbctl('lr-add', 'theirs')
  await expect(control.settle()).resolves.toBeUndefined()
  await northbound.nbctl('create', 'Address_Set', 'name=declared', 'external_ids:owner=gone-feature/blue')
  await expect(control.settle()).rejects.toThrow(UnexplainedError)
  cluster.declareForeign('Address_Set', 'declared')
  await expect(control.settle()).resolves.toBeUndefined()
})

it('knows the rows of a controller that went, though they carry no mark of it any more', async () => {
  await using first = await cluster.startSettled()
  const [{ name } = { name: '' }] = first.rows('Port_Group', 'name')
  expect(name).not.toBe('')
  await first[Symbol.asyncDispose]()
  // Nobody takes it for ours by its name, so it stays.
  await cluster.northbound.nbctl('--', 'clear', 'Port_Group', name, 'external_ids')
  await cluster.northbound.nbctl('--', 'set', 'Port_Group', name, 'name=lost')
  await using second = await cluster.startController()
  await expect(second.settle()).rejects.toThrow(/^Port_Group lost \{\}: nobody of ours$/m)
})
