import { serviceAnnotations } from '@kube-ovn/annotations'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import { endpointSlice, service } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const merge = 'application/merge-patch+json'

async function create(name: string, clusterIP: string, backend: string): Promise<void> {
  await cluster.client.create(services, service({ name, clusterIP }))
  const slice = endpointSlice({ name: `${name}-1`, service: name, endpoints: [backend] })
  await cluster.client.create(endpointSlices, slice)
}

function move(name: string, backend: string): Promise<unknown> {
  const endpoints = [{ addresses: [backend], conditions: { ready: true } }]
  return cluster.client.patch(endpointSlices, { namespace: 'default', name: `${name}-1` }, merge, {
    endpoints,
  })
}

function vips(control: Controller): Readonly<Record<string, string>> {
  const all = control.named('Load_Balancer', 'cluster-tcp-loadbalancer')?.vips ?? {}
  return Object.fromEntries(Object.entries(all).filter(([vip]) => vip.startsWith('10.96.100.')))
}

/** Where who asks on the switch of Pods is led: the lists of backends of each entry there. */
function led(control: Controller): Readonly<Record<string, readonly string[]>> {
  const { northbound } = control.world
  const { load_balancer: own = [], load_balancer_group: groups = [] } =
    control.named('Logical_Switch', 'ovn-default') ?? {}
  const grouped = groups.flatMap((uuid) => northbound.get('Load_Balancer_Group', uuid)?.load_balancer ?? [])
  const entries = [...own, ...grouped].flatMap((uuid) =>
    Object.entries(northbound.get('Load_Balancer', uuid)?.vips ?? {}),
  )
  const lists = Map.groupBy(entries, ([vip]) => vip)
  return Object.fromEntries(
    [...lists]
      .filter(([vip]) => vip.startsWith('10.96.100.'))
      .map(([vip, all]) => [vip, all.map(([, backends]) => backends)]),
  )
}

it.each([
  ['shared', 'per-service'],
  ['per-service', 'shared'],
])(
  'A Service that can not be read is led to while others go from the layout %s to %s, and follows them once it can',
  async (from, to) => {
    await create('web', '10.96.100.1', '10.16.0.2')
    await create('other', '10.96.100.2', '10.16.0.5')
    {
      await using control = await cluster.startController({ flags: { loadBalancerLayout: from } })
      await control.settle()
    }
    const say = (text: string | null) =>
      cluster.client.patch(services, { namespace: 'default', name: 'other' }, merge, {
        metadata: { annotations: { [serviceAnnotations.switchLbVip.key]: text } },
      })
    await say('nonsense')
    await move('web', '10.16.0.4')
    await using control = await cluster.startController({ flags: { loadBalancerLayout: to } })
    await control.settle()
    const all = { '10.96.100.1:80': ['10.16.0.4:8080'], '10.96.100.2:80': ['10.16.0.5:8080'] }
    expect(led(control)).toEqual(all)
    await say(null)
    await control.settle()
    expect(led(control)).toEqual(all)
    const inShared = to === 'shared' ? ['10.96.100.1:80', '10.96.100.2:80'] : []
    expect(Object.keys(vips(control)).sort()).toEqual(inShared)
    const ofOne = control
      .rows('Load_Balancer', 'name')
      .filter(({ name }) => /^default\/(web|other)\//.test(name))
    expect(ofOne).toHaveLength(to === 'shared' ? 0 : 2)
  },
)

it('A Service that can not be read keeps what it has over a restart, and no other one from a change', async () => {
  await create('web', '10.96.100.1', '10.16.0.2')
  await create('other', '10.96.100.2', '10.16.0.5')
  {
    await using control = await cluster.startController()
    await control.settle()
  }
  await cluster.client.patch(services, { namespace: 'default', name: 'other' }, merge, {
    metadata: { annotations: { [serviceAnnotations.switchLbVip.key]: 'nonsense' } },
  })
  await move('web', '10.16.0.4')
  await using control = await cluster.startController()
  await control.settle()
  const kept = { '10.96.100.2:80': '10.16.0.5:8080' }
  expect(vips(control)).toEqual({ '10.96.100.1:80': '10.16.0.4:8080', ...kept })
  await move('web', '10.16.0.6')
  await control.settle()
  expect(vips(control)).toEqual({ '10.96.100.1:80': '10.16.0.6:8080', ...kept })
})
