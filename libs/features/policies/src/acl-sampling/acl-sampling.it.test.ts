import { networkPolicies, namespaces, pods } from '@kube-ovn/kube-api/core'
import { subnetResource } from '@kube-ovn/kube-api'
import { namespace, pod, subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite({ northd: true })
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop', labels: {} }))
  await cluster.client.create(pods, pod({ name: 'web', namespace: 'shop', node: 'n1' }))
})

const sampled = { aclSampleProbability: 655, aclSampleCollectorSet: 7 }

function createPolicy(name: string, port: number): Promise<unknown> {
  return cluster.client.create(networkPolicies, {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace: 'shop' } },
    spec: { podSelector: {}, ingress: [{ ports: [{ protocol: 'TCP', port }] }] },
  })
}

/** The ACLs of a policy that allow or drop by what they do, with the cookies of their samples. */
function cookies(control: Controller, parent: string): Readonly<Record<string, number | undefined>> {
  const metadata = new Map(
    control.rows('Sample', '_uuid', 'metadata').map((sample) => [sample._uuid, sample.metadata]),
  )
  return Object.fromEntries(
    control
      .rows('ACL', 'external_ids', 'action', 'match', 'sample_new')
      .filter(({ external_ids: ids }) => ids['parent'] === parent)
      .filter(({ action }) => action === 'allow-related' || action === 'drop')
      .map(({ action, match, sample_new: sample }) => [
        `${action} ${match}`,
        sample === undefined ? undefined : metadata.get(sample),
      ]),
  )
}

it('takes no samples unless that is wanted', async () => {
  await createPolicy('till', 80)
  await using control = await cluster.startSettled()
  expect(Object.values(cookies(control, 'till.shop'))).toEqual([undefined, undefined, undefined])
  expect([...control.rows('Sample', 'metadata'), ...control.rows('Sample_Collector', 'name')]).toEqual([])
})

it('gives each verdict a cookie of its own, for flows that OVN makes, and the same after a restart', async () => {
  await createPolicy('till', 80)
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock: '10.33.0.0/24', private: true }),
  )
  let before: unknown
  {
    await using control = await cluster.startSettled({ flags: sampled })
    expect(control.rows('Sample_Collector', 'id', 'name', 'probability', 'set_id')).toMatchObject([
      { id: 142, name: 'kube-ovn', probability: 655, set_id: 7 },
    ])
    const own = cookies(control, 'till.shop')
    const drop = own['drop outport == @till.shop && ip']
    const all = [...Object.values(own), ...Object.values(cookies(control, 'blue'))]
    expect(Object.keys(own)).toHaveLength(3)
    expect(all).toHaveLength(new Set(all).size)
    expect(all.every((cookie) => cookie !== undefined && cookie > 0)).toBe(true)
    await cluster.northbound.nbctl('--wait=sb', 'sync')
    const flows = await cluster.northbound.sbctl('lflow-list')
    // What decides notes the cookie, and who samples is behind all of them.
    expect(flows).toMatch(new RegExp(`outport == @till\\.shop && ip\\b.*reg3 = ${drop};`))
    expect(flows).toContain('sample(probability=655,collector_set=7,obs_domain=2,obs_point=reg3)')
    before = { own, blue: cookies(control, 'blue') }
  }
  await using control = await cluster.startController({ flags: sampled })
  await cluster.forgetCosts()
  await control.settle()
  expect({ own: cookies(control, 'till.shop'), blue: cookies(control, 'blue') }).toEqual(before)
})

it('leaves collectors of others alone, and guards nevertheless', async () => {
  const foreign = ['create', 'Sample_Collector', 'id=142', 'name=theirs', 'probability=1', 'set_id=1']
  await cluster.northbound.nbctl(...foreign)
  await cluster.northbound.nbctl('create', 'Sampling_App', 'id=2', 'type=drop')
  await createPolicy('till', 80)
  await using control = await cluster.startController({ flags: sampled })
  await control.settle()
  expect(control.rows('Sample_Collector', 'id', 'name').toSorted((a, b) => a.id - b.id)).toMatchObject([
    { id: 142, name: 'theirs' },
    { id: 143, name: 'kube-ovn' },
  ])
  expect(Object.values(cookies(control, 'till.shop'))).toHaveLength(3)
})

it('heals what somebody does to the collector, and costs nothing at a restart', async () => {
  await createPolicy('till', 80)
  {
    await using control = await cluster.startSettled({ flags: sampled })
    const before = cookies(control, 'till.shop')
    for (const { _uuid: collector } of control.rows('Sample_Collector', '_uuid'))
      await cluster.northbound.nbctl('set', 'Sample_Collector', collector, 'probability=1', 'set_id=9')
    for (const { _uuid: acl } of control.rows('ACL', '_uuid'))
      await cluster.northbound.nbctl('clear', 'ACL', acl, 'sample_new')
    await control.settle()
    expect(control.rows('Sample_Collector', 'id', 'probability', 'set_id')).toMatchObject([
      { id: 142, probability: 655, set_id: 7 },
    ])
    expect(cookies(control, 'till.shop')).toEqual(before)
  }
  await cluster.forgetCosts()
  await using control = await cluster.startController({ flags: sampled })
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
})

it('changes the sample of the rule that is edited, and no other, and ends with the policy', async () => {
  await createPolicy('till', 80)
  await createPolicy('other', 80)
  await using control = await cluster.startSettled({ flags: sampled })
  const [before, other] = [cookies(control, 'till.shop'), cookies(control, 'other.shop')]
  const edited = { spec: { ingress: [{ ports: [{ protocol: 'TCP', port: 81 }] }] } }
  const type = 'application/merge-patch+json'
  await cluster.client.patch(networkPolicies, { namespace: 'shop', name: 'till' }, type, edited)
  await control.settle()
  const after = cookies(control, 'till.shop')
  const drop = 'drop outport == @till.shop && ip'
  expect(after[drop]).toBe(before[drop])
  expect(Object.keys(after).sort()).not.toEqual(Object.keys(before).sort())
  expect(cookies(control, 'other.shop')).toEqual(other)
  for (const name of ['till', 'other'])
    await cluster.client.remove(networkPolicies, { namespace: 'shop', name })
  await control.settle()
  // Those of other features are left.
  const left = control.rows('ACL', 'sample_new').flatMap(({ sample_new: sample }) => sample ?? [])
  expect(
    control
      .rows('Sample', '_uuid')
      .map(({ _uuid }) => _uuid)
      .sort(),
  ).toEqual([...left].sort())
})

it('gives a cookie that another row has to nobody else', async () => {
  await createPolicy('till', 80)
  let wanted = 0
  {
    await using control = await cluster.startSettled({ flags: sampled })
    wanted = cookies(control, 'till.shop')['drop outport == @till.shop && ip'] ?? 0
  }
  await cluster.client.remove(networkPolicies, { namespace: 'shop', name: 'till' })
  {
    await using _control = await cluster.startSettled({ flags: sampled })
  }
  await cluster.northbound.nbctl(
    ...['--', 'ls-add', 'foreign', '--', 'acl-add', 'foreign', 'to-lport', '1', 'ip', 'allow'],
  )
  const acl = await cluster.northbound.nbctl(
    '--bare',
    '--columns=_uuid',
    'find',
    'ACL',
    'priority=1',
    'action=allow',
  )
  await cluster.northbound.nbctl(
    ...['--id=@sample', 'create', 'Sample', `metadata=${wanted}`],
    ...['--', 'set', 'ACL', acl, 'sample_new=@sample'],
  )
  await createPolicy('till', 80)
  await using control = await cluster.startSettled({ flags: sampled })
  const given = cookies(control, 'till.shop')['drop outport == @till.shop && ip'] ?? 0
  expect(given).toBeGreaterThan(0)
  expect(given).not.toBe(wanted)
})

it('ends when it is not wanted any more', async () => {
  await createPolicy('till', 80)
  {
    await using _control = await cluster.startSettled({ flags: sampled })
  }
  await using control = await cluster.startSettled()
  expect([...control.rows('Sample', 'metadata'), ...control.rows('Sample_Collector', 'name')]).toEqual([])
  expect(Object.keys(cookies(control, 'till.shop'))).toHaveLength(3)
})
