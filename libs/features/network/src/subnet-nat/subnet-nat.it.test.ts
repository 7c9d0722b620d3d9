import { subnetResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const rules = [
  { action: 'forward', match: { srcIPs: '10.17.0.0/28', dstIPs: '8.8.8.8' } },
  { action: 'nat', match: { srcIPs: 'fd00:10:17::/120' } },
]
const published = [
  { ruleID: '343ff13b29dd', ...rules[0] },
  { ruleID: 'f17d79654b98', ...rules[1] },
]

async function make(spec: SubnetSpec = {}): Promise<void> {
  const cidrBlock = '10.17.0.0/16,fd00:10:17::/112'
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'nat', cidrBlock, natOutgoing: true, natOutgoingPolicyRules: rules, ...spec }),
  )
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'nat', spec)
  await control.settle()
}

async function said(): Promise<unknown> {
  const object = await cluster.client.get(subnetResource, { name: 'nat' })
  return object?.status?.natOutgoingPolicyRules
}

describe('rules of natOutgoing', () => {
  it('are published, follow edits, and end with natOutgoing', async () => {
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    expect(await said()).toEqual(published)
    await cluster.forgetCosts()
    await edit(control, { natOutgoingPolicyRules: [rules[1]] })
    expect(await said()).toMatchObject([rules[1]])
    const { transactions, writes } = await cluster.costs()
    expect([transactions, writes.length]).toEqual([0, 1])
    await edit(control, { natOutgoing: false })
    expect(await said()).toBeUndefined()
    await edit(control, { natOutgoing: true })
    expect(await said()).toMatchObject([rules[1]])
    await edit(control, { natOutgoingPolicyRules: null })
    expect(await said()).toBeUndefined()
    await cluster.client.remove(subnetResource, { name: 'nat' })
    await control.settle()
    expect(control.problems()).toEqual([])
  })

  it('are left alone by a restart, also one that comes after an edit, and put right when somebody changes them', async () => {
    {
      await using control = await cluster.startSettled()
      await make()
      await control.settle()
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      const status = { natOutgoingPolicyRules: [{ ruleID: '000000000000', match: {}, action: 'nat' }] }
      await cluster.client.patch(
        subnetResource,
        { name: 'nat' },
        'application/merge-patch+json',
        { status },
        { subresource: 'status' },
      )
      await control.settle()
      expect(await said()).toEqual(published)
    }
    await cluster.user.edit(subnetResource, 'nat', { natOutgoingPolicyRules: [rules[0]] })
    await using control = await cluster.startController()
    await control.settle()
    expect(await said()).toEqual([published[0]])
  })

  it('that can not be carried out are told with field, value and cure, and leave what was said', async () => {
    await using control = await cluster.startSettled()
    await make()
    await control.settle()
    await edit(control, { natOutgoingPolicyRules: [{ action: 'drop', match: { srcIPs: '10.17.0.0/28' } }] })
    const object = await cluster.client.get(subnetResource, { name: 'nat' })
    const condition = object?.status?.conditions?.find(({ type }) => type === 'Validated')
    expect(condition?.status).toBe('False')
    expect(condition?.message).toContain('spec.natOutgoingPolicyRules[0].action')
    expect(condition?.message).toContain('write nat or forward')
    expect(await said()).toEqual(published)
    await edit(control, { natOutgoingPolicyRules: rules })
    expect(await said()).toEqual(published)
  })
})
