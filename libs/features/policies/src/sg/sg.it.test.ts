import { securityGroupResource } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { namespace, securityGroup } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const denied = 'ovn.sg.kubeovn_deny_all'
const passing = 'ovn.sg.kubeovn_baseline'

function aclsOf(control: Controller, group: string): readonly string[] {
  const { acls = [] } = control.named('Port_Group', group) ?? {}
  return control
    .rows('ACL', '_uuid', 'direction', 'tier', 'priority', 'match', 'action')
    .filter(({ _uuid }) => acls.includes(_uuid))
    .map(({ direction, tier, priority, match, action }) =>
      [direction, tier, priority, match, action].join(' '),
    )
    .sort()
}

const passes = [
  `from-lport 2 2004 inport == @${passing} && ip pass`,
  `to-lport 2 2004 outport == @${passing} && ip pass`,
]

function create(name: string, tier: 0 | 1): Promise<unknown> {
  return cluster.client.create(securityGroupResource, securityGroup({ name, tier }))
}

it('is there before any SecurityGroup, and lets past tier 2 as long as one is of tier 1', async () => {
  await using control = await cluster.startSettled()
  const denials = aclsOf(control, denied)
  expect(denials.length).toBeGreaterThan(0)
  expect(denials.every((acl) => acl.endsWith(`== @${denied} && ip drop`))).toBe(true)
  expect(control.named('Port_Group', passing)).toBeUndefined()
  await create('early', 0)
  await control.settle()
  expect(control.named('Port_Group', passing)).toBeUndefined()
  await cluster.forgetCosts()
  await create('late', 1)
  await control.settle()
  expect(aclsOf(control, passing)).toEqual(passes)
  expect((await cluster.costs()).transactions).toBe(1)

  await create('later', 1)
  const edited = { spec: { tier: 0 } }
  await cluster.client.patch(securityGroupResource, { name: 'late' }, 'application/merge-patch+json', edited)
  await control.settle()
  expect(aclsOf(control, passing)).toEqual(passes)
  await cluster.client.remove(securityGroupResource, { name: 'later' })
  await control.settle()
  expect(control.named('Port_Group', passing)).toBeUndefined()
  expect(control.rows('ACL', 'match').filter(({ match }) => match.includes(passing))).toEqual([])
  expect(aclsOf(control, denied)).toEqual(denials)
})

it('is the same after a restart, and whole again with its ports when somebody broke it, beside a foreign ACL', async () => {
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
  await create('web', 1)
  await cluster.user.createPod({
    ...{ name: 'a', namespace: 'shop' },
    annotations: { 'ovn.kubernetes.io/security_groups': 'web' },
  })
  await (await cluster.startSettled())[Symbol.asyncDispose]()
  await using control = await cluster.startController()
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  const denials = aclsOf(control, denied)

  const { northbound } = cluster
  const foreign = ['to-lport', '1000', 'ip4.src == 9.9.9.9', 'drop'] as const
  await northbound.nbctl('acl-add', denied, ...foreign)
  await northbound.nbctl('acl-del', denied, 'from-lport')
  await northbound.nbctl('clear', 'Port_Group', passing, 'acls')
  await northbound.nbctl('set', 'Port_Group', passing, 'name=other')
  await control.settle()
  const stranger = 'to-lport 0 1000 ip4.src == 9.9.9.9 drop'
  expect(aclsOf(control, denied)).toEqual([...denials, stranger].sort())
  expect(aclsOf(control, passing)).toEqual(passes)

  await northbound.nbctl('pg-del', denied)
  await control.settle()
  expect(aclsOf(control, denied)).toEqual(denials)
  expect([denied, passing].map((group) => control.portsOf('Port_Group', group))).toEqual([
    ['a.shop'],
    ['a.shop'],
  ])
})
