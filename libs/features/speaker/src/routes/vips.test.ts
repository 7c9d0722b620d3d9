import { join } from 'node:path'
import type { Vip } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { describe, expect, it } from 'vitest'
import { desiredPrefixes } from './desired.ts'
import { annotationsOf, node, otherSpeaker, pod, subnet, tableOf, type Policy } from './objects-fixture.ts'
import type { Announced, SpeakerSnapshot } from './snapshot.ts'

const key = 'ovn.kubernetes.io/bgp'

interface VipChanges {
  readonly labels?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
  readonly spec?: Vip['spec']
  readonly status?: Vip['status']
}

/** Shared in the namespace of the Pods. */
function vip(policy: Policy, { spec, status, ...metadata }: VipChanges = {}): Vip {
  return {
    metadata: { name: 'front', annotations: annotationsOf(policy), ...metadata },
    spec: { subnet: 'red', namespace: 'shop', ...spec },
    status: { v4ip: '10.16.0.200', ...status },
  }
}

/** A Pod that shares the Vip. */
function sharing(where: string, changes: { readonly labels?: Readonly<Record<string, string>> } = {}): Pod {
  const made = pod(`web-${where}`, where, 'red', where === 'node-1' ? '10.16.0.5' : '10.16.0.6', undefined)
  const annotations = { ...made.metadata.annotations, 'ovn.kubernetes.io/aaps': 'back,front' }
  return { ...made, metadata: { ...made.metadata, annotations, ...changes } }
}

function borrowing(where: string): Pod {
  return pod(`web-${where}`, where, 'red', '10.16.0.200', undefined)
}

function announcedBy(given: Partial<SpeakerSnapshot>): Announced {
  return desiredPrefixes({
    ...{ nodeName: 'node-1', aggregates: false, services: [], vips: [], pods: [], bgpPeers: [] },
    ...{
      nodes: [node('node-1', false), node('node-2', false)],
      subnets: [subnet('red', '10.16.0.0/16', undefined)],
    },
    ...given,
  })
}

const holders: Readonly<Record<string, readonly Pod[]>> = {
  nobody: [],
  'own, here': [borrowing('node-1')],
  'own, there': [borrowing('node-2')],
  'shared, here': [sharing('node-1')],
  'shared, there': [sharing('node-2')],
  'shared, both': [sharing('node-1'), sharing('node-2')],
}

it('is what this table says, for each policy of a Subnet and of its Vip, and wherever Pods are that have it', async () => {
  const rows: (readonly string[])[] = [
    ['NODE', 'AGGREGATES', 'SUBNET', 'VIP', 'PODS THAT HAVE IT', 'ANNOUNCED'],
  ]
  for (const [isDrained, aggregates] of [
    [false, false],
    [false, true],
    [true, false],
  ] as const)
    for (const ofSubnet of [undefined, 'cluster', 'local'] as const)
      for (const ofVip of [undefined, 'cluster', 'local', 'everywhere'] as const)
        for (const [who, pods] of Object.entries(holders)) {
          const { prefixes } = announcedBy({
            ...{ aggregates, nodes: [node('node-1', isDrained), node('node-2', false)] },
            subnets: [subnet('red', '10.16.0.0/16', ofSubnet)],
            ...{ vips: [vip(ofVip)], pods: [...pods, otherSpeaker] },
          })
          rows.push([
            ...[isDrained ? 'drained' : 'serving', aggregates ? 'yes' : 'no', ofSubnet ?? '-', ofVip ?? '-'],
            ...[who, [...prefixes].toSorted().join(' ') || '-'],
          ])
        }
  await expect(tableOf(rows)).toMatchFileSnapshot(join(import.meta.dirname, '__golden__/vips.txt'))
})

describe('a Vip', () => {
  const here = [sharing('node-1', { labels: { app: 'web' } })]

  it.each<[string, Vip, readonly Pod[], readonly string[]]>([
    [
      'of both families',
      vip('true', { status: { v6ip: 'FD00:10:16::C8' } }),
      [],
      ['10.16.0.200/32', 'fd00:10:16::c8/128'],
    ],
    [
      'of IPv6 alone',
      vip('true', { status: { v4ip: '', v6ip: 'fd00:10:16::c8' } }),
      [],
      ['fd00:10:16::c8/128'],
    ],
    ['that has no address yet', vip('true', { status: { v4ip: '' } }), [], []],
    ['that is being deleted', vip('true', { deletionTimestamp: '2026-01-01T00:00:00Z' }), [], []],
    ['of a Subnet that is not there', vip('true', { spec: { subnet: 'gone' } }), [], []],
    [
      'that was edited to another Subnet',
      vip('true', { labels: { 'ovn.kubernetes.io/subnet': 'red' }, spec: { subnet: 'gone' } }),
      ...([[], ['10.16.0.200/32']] as const),
    ],
    ['of a load balancer', vip('true', { status: { type: 'switch_lb_vip' } }), [], ['10.16.0.200/32']],
    ['whose labels Pods have', vip('local', { spec: { selector: ['app:web'] } }), here, ['10.16.0.200/32']],
    ['whose labels Pods have not', vip('local', { spec: { selector: ['app:db'] } }), here, []],
    ['of another namespace', vip('local', { spec: { namespace: 'home' } }), here, []],
    ['of no namespace', vip('local', { spec: { namespace: '' } }), here, []],
  ])('%s', (_, object, pods, expected) => {
    const { prefixes, problems } = announcedBy({ vips: [object], pods })
    expect({ prefixes: [...prefixes].toSorted(), problems }).toEqual({ prefixes: expected, problems: [] })
  })

  it('is shared by no Pod that has ended, or that has no NIC on its Subnet', () => {
    const [pod = expect.unreachable()] = here
    const ended = {
      ...pod,
      spec: { ...pod.spec, restartPolicy: 'Never' },
      status: { phase: 'Succeeded' },
    } as Pod
    const annotations = { ...pod.metadata.annotations, 'ovn.kubernetes.io/logical_switch': 'blue' }
    const elsewhere = { ...pod, metadata: { ...pod.metadata, annotations } }
    for (const pods of [[ended], [elsewhere]])
      expect([...announcedBy({ vips: [vip('local')], pods }).prefixes]).toEqual([])
  })

  it('of a load balancer has nothing of its Subnet’s policy', () => {
    const given = {
      subnets: [subnet('red', '10.16.0.0/16', 'local')],
      vips: [vip(undefined, { status: { type: 'switch_lb_vip' } })],
    }
    expect(announcedBy(given)).toEqual({ prefixes: new Set(), problems: [] })
  })

  it.each<[string, Vip, object]>([
    [
      'no policy',
      vip('everywhere'),
      { field: key, value: 'everywhere', cure: 'write true, cluster or local, or remove it' },
    ],
    [
      'local of a load balancer',
      vip('local', { status: { type: 'switch_lb_vip' } }),
      {
        field: key,
        value: 'local',
        cure: 'write true: nobody knows on which node a Vip of type switch_lb_vip is',
      },
    ],
    [
      'local of a machine',
      vip('local', { status: { type: 'kube_host_vm_vip' } }),
      {
        field: key,
        value: 'local',
        cure: 'write true: nobody knows on which node a Vip of type kube_host_vm_vip is',
      },
    ],
    [
      'an address of the other family',
      vip('local', { status: { v4ip: 'fd00:10:16::c8' } }),
      { field: 'status.v4ip', value: 'fd00:10:16::c8', cure: 'write an IPv4 address' },
    ],
    [
      'no label',
      vip('local', { spec: { selector: ['app=web'] } }),
      {
        field: 'spec.selector',
        value: 'app=web',
        cure: 'write a label and its value, separated by a colon, like app:web',
      },
    ],
    [
      'more labels than may be',
      vip('local', { spec: { selector: Array.from({ length: 1025 }, (_, n) => `app:${n}`) } }),
      { field: 'spec.selector', value: '1025 entries', cure: 'write at most 1024 labels' },
    ],
  ])('tells of %s, and keeps no other from being announced', (_, object, problem) => {
    const other = vip('true', { status: { v4ip: '10.16.0.201' } })
    expect(announcedBy({ vips: [object, other], pods: [sharing('node-1')] })).toEqual({
      prefixes: new Set(['10.16.0.201/32']),
      problems: [{ object: 'Vip/front', ...problem }],
    })
  })
})
