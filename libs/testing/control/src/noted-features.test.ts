import type { ControlFeature, ControlWorld, Right } from '@kube-ovn/domains-control'
import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { nodes, pods, services } from '@kube-ovn/kube-api/core'
import { logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing, type KubePatch } from '@kube-ovn/reconcile'
import { expect, it } from 'vitest'
import { notedFeatures } from './noted-features.ts'

const onNodes: ControlFeature['triggers'] = [{ on: 'object', resource: nodes, keys: ({ key }) => [key] }]

const rows = {
  Logical_Switch: [
    { name: 'mine', external_ids: { owner: 'a/x' } },
    { name: 'other', external_ids: { owner: 'b/x' } },
    { name: 'left', external_ids: { vendor: 'kube-ovn' } },
  ],
}

/** What is told of a feature whose key `x` was looked at. */
function told(feature: Partial<ControlFeature>, patches: readonly KubePatch[] = []): readonly string[] {
  const found: string[] = []
  const whole = {
    ...{ name: 'a', kinds: [], triggers: onNodes, observe: () => undefined },
    ...{ desired: () => ({ ...nothing, patches }), ...feature },
  }
  const [noted] = notedFeatures([whole], (what) => found.push(what))
  const world = stillWorld({}, rows)
  const observed = noted?.observe('x', world)
  noted?.allocate?.('x', observed, world)
  noted?.desired('x', undefined)
  return found
}

it.each<[name: string, read: (world: ControlWorld) => unknown, what: string]>([
  ['an object', ({ pods }) => pods.get('shop/web'), 'pods.'],
  ['objects by an index', ({ ips }) => ips.find('subnet', 'blue'), 'ips.kubeovn.io'],
  ['all objects', ({ subnets }) => [...subnets.values()], 'subnets.kubeovn.io'],
  ['their number', ({ pods }) => pods.size, 'pods.'],
  ['objects of a watch', (world) => world.store({ resource: pods }).get('shop/web'), 'pods.'],
  ['a row', ({ northbound }) => northbound.get('Logical_Switch', 'Logical_Switch 0'), 'Logical_Switch'],
  ['that there is no row', ({ northbound }) => northbound.find('ACL', 'name', 'x'), 'ACL'],
  ['all rows', ({ northbound }) => northbound.scan('Logical_Switch'), 'Logical_Switch'],
  ['their number', ({ northbound }) => northbound.count('Logical_Switch'), 'Logical_Switch'],
])('tells of a key that reads %s, unless that wakes it', (_, read, what) => {
  expect(told({ observe: (_key, world) => read(world) })).toContain(`a reads ${what}`)
  const allocate: ControlFeature['allocate'] = (_key, _observed, world) => {
    read(world)
    return { snapshot: undefined, undo: () => undefined }
  }
  expect(told({ allocate })).toContain(`a reads ${what}`)
  const woken: ControlFeature['triggers'] = [
    ...[pods, ipResource, subnetResource].map((resource) => ({
      on: 'object' as const,
      resource,
      keys: () => [],
    })),
    ...(['Logical_Switch', 'ACL'] as const).map((table) => ({ on: 'row' as const, table, keys: () => [] })),
  ]
  expect(told({ triggers: woken, observe: (_key, world) => read(world), allocate })).toEqual([])
})

it('lets keys read tables, what is in their hands, and what they choose by once', () => {
  expect(told({ observe: (_key, { networks, nodes: known }) => [networks.scan(), known.size] })).toEqual([])
  const named = (name: string): Partial<ControlFeature> => ({
    kinds: [logicalSwitch],
    observe: (_key, { northbound }) => northbound.find('Logical_Switch', 'name', name),
  })
  for (const name of ['mine', 'left', 'none']) expect(told(named(name))).toEqual([])
  expect(told(named('other'))).toEqual(['a reads Logical_Switch'])
  const isKept = [{ table: 'Logical_Switch', indexes: ['name'], isKept: true }] as const
  expect(told({ ...named('other'), lookups: isKept })).toEqual([])
  const ending: ControlFeature['triggers'] = [{ on: 'signal', signal: 'ending', keys: () => [] }]
  const records = (_key: string, { ips }: ControlWorld) => ips.find('pod', 'shop/web')
  expect([told({ observe: records }), told({ triggers: ending, observe: records })]).toEqual([
    ['a reads ips.kubeovn.io'],
    [],
  ])
})

it('tells of fields that are written and in no example', () => {
  const rights: readonly Right[] = [
    {
      ...{ resource: services, verbs: ['patch'] },
      writes: [
        { metadata: { name: 'web', annotations: { vpc: 'red' } }, spec: { type: 'ClusterIP', ports: [] } },
      ],
    },
  ]
  const write = (merge: NonNullable<KubePatch['merge']>) =>
    told({ rights }, [{ resource: services, namespace: 'shop', name: 'web', merge }])
  expect(
    write({ metadata: { annotations: { other: 'x' } }, spec: { type: null, ports: [{ port: 80 }] } }),
  ).toEqual([])
  expect(
    write({ metadata: { labels: { app: 'web' } }, spec: { externalIPs: null, type: 'NodePort' } }),
  ).toEqual([...['a writes metadata.labels of services.', 'a writes spec.externalIPs of services.']])
  // Nobody asked for examples of what is kept as it is.
  expect(
    told({ rights: [] }, [{ resource: pods, name: 'web', merge: { spec: { nodeName: 'n1' } } }]),
  ).toEqual([])
})
