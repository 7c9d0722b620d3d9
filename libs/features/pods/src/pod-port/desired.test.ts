import { AnnotationInvalidError, controllerFinalizer } from '@kube-ovn/annotations'
import { ip } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { attached, lease } from '@kube-ovn/domains-control/testing/networks'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredPod } from './desired.ts'
import { PodSubnetUnavailableError, primaryNic } from '@kube-ovn/domains-control/pods'
import type { NicNeeds, PodNeeds, PodSnapshot } from './snapshot.ts'

const blue = attached('blue', '10.1.0.0/16,fd00:1::/112')
const first: NicNeeds = {
  nic: primaryNic({ namespace: 'shop', name: 'web' }),
  options: {
    isSecured: false,
    forwardsUnknown: false,
    isActivatedByRarp: false,
    vips: [],
    sharesVip: false,
    securityGroups: [],
    dhcp: {},
    northGateway: undefined,
  },
  dhcp: {},
  security: { groups: [], builtIn: [], missing: [] },
  formerGroups: [],
  isAnnotated: false,
  hasNicType: false,
  placement: { network: blue, lease: lease('blue', 'web.shop', '10.1.0.2,fd00:1::2') },
  problem: undefined,
  missed: undefined,
}
const needs: PodNeeds = {
  name: 'web',
  uid: 'u1',
  node: 'node-1',
  nicType: 'veth-pair',
  kind: 'pod',
  policies: undefined,
  nics: [first],
  problem: undefined,
  ignored: [],
  staleKeys: [],
}
const web: PodSnapshot = {
  namespace: 'shop',
  name: 'web',
  ipObjects: [],
  saysGeneration: true,
  saysPairs: false,
  hasRows: true,
  pods: [needs],
  chassis: undefined,
  kept: [],
  reservations: [],
}
const told = {
  'ovn.kubernetes.io/ip_address': '10.1.0.2,fd00:1::2',
  'ovn.kubernetes.io/mac_address': '00:00:5e:00:53:01',
  'ovn.kubernetes.io/logical_switch': 'blue',
  'ovn.kubernetes.io/logical_router': 'ovn-cluster',
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/routed': 'true',
}
const once = {
  'ovn.kubernetes.io/cidr': '10.1.0.0/16,fd00:1::/112',
  'ovn.kubernetes.io/gateway': '10.1.0.1,fd00:1::1',
}

function withNic(nic: Partial<NicNeeds>): PodSnapshot {
  return { ...web, pods: [{ ...needs, nics: [{ ...first, ...nic }] }] }
}

/** A member of a StatefulSet that is away, and what its record says that it has. */
function away(has: string, recorded: string): PodSnapshot {
  const spec = { subnet: 'blue', nodeName: 'node-1', podType: 'StatefulSet', v4IpAddress: recorded }
  const { metadata, ...rest } = ip({ name: 'web.shop' })
  const record = { ...rest, metadata: { ...metadata, finalizers: [controllerFinalizer] }, spec }
  const kept = [{ port: 'web.shop', lease: lease('blue', 'web.shop', has), record, hasPort: true }]
  return { ...web, pods: [], ipObjects: [record], kept }
}

function annotationsFor(nic: Partial<NicNeeds>): unknown {
  return shownPatches(desiredPod(withNic(nic)))[1]
}

describe('desiredPod', () => {
  it.each([
    { name: 'both families', addresses: '10.1.0.2,fd00:1::2', want: '00:00:5e:00:53:01 10.1.0.2 fd00:1::2' },
    { name: 'IPv4', addresses: '10.1.0.2', want: '00:00:5e:00:53:01 10.1.0.2' },
    { name: 'IPv6', addresses: 'fd00:1::2', want: '00:00:5e:00:53:01 fd00:1::2' },
  ])(
    'is a port with addresses of $name, on its switch and in the groups of its node',
    ({ addresses, want }) => {
      const placement = { network: blue, lease: lease('blue', 'web.shop', addresses) }
      const desired = desiredPod(withNic({ placement }))
      expect(shownRows(desired)).toEqual([
        {
          row: 'lsp/web.shop',
          name: 'web.shop',
          addresses: [want],
          port_security: [],
          options: {},
          external_ids: { vendor: 'kube-ovn', ls: 'blue', pod: 'shop/web' },
        },
      ])
      expect(shownMembers(desired)).toEqual([
        'ls/blue ports: lsp/web.shop',
        'pg-node/node-1 ports: lsp/web.shop',
        'pg-subnet/blue/node-1 ports: lsp/web.shop',
      ])
    },
  )

  it('records its addresses before it is told', () => {
    expect(shownPatches(desiredPod(web)).map(({ object }) => object)).toEqual([
      'ips/web.shop',
      'pods/shop/web',
    ])
    expect(shownPatches(desiredPod(web))[0]).toEqual({
      object: 'ips/web.shop',
      metadata: {
        labels: {
          'ovn.kubernetes.io/ip_reserved': 'false',
          'ovn.kubernetes.io/node-name': 'node-1',
          'ovn.kubernetes.io/subnet': 'blue',
          blue: '',
        },
        finalizers: [controllerFinalizer],
      },
      spec: {
        podName: 'web',
        namespace: 'shop',
        nodeName: 'node-1',
        subnet: 'blue',
        ipAddress: '10.1.0.2,fd00:1::2',
        v4IpAddress: '10.1.0.2',
        v6IpAddress: 'fd00:1::2',
        macAddress: '00:00:5e:00:53:01',
        podType: '',
      },
    })
  })

  it.each([
    {
      name: 'a new pod all',
      pod: {},
      want: { ...told, ...once, 'ovn.kubernetes.io/pod_nic_type': 'veth-pair' },
    },
    { name: 'one that chose its NIC all else', pod: { hasNicType: true }, want: { ...told, ...once } },
    { name: 'a running one nothing new about its subnet', pod: { isAnnotated: true }, want: told },
  ])('tells $name', ({ pod, want }) => {
    expect(annotationsFor(pod)).toEqual({ object: 'pods/shop/web', metadata: { annotations: want } })
  })

  it('keeps what it has, and tells why, while it can not be placed', () => {
    const problem = new PodSubnetUnavailableError({ subnet: 'nowhere', cure: 'create the subnet' })
    const desired = desiredPod(withNic({ placement: undefined, problem }))
    expect(desired).toMatchObject({ hold: true, problem, rows: [], patches: [] })
    expect(
      desired.events.map(({ type, reason, message, regarding }) => [type, reason, regarding.uid, message]),
    ).toEqual([
      [
        'Warning',
        'AcquireAddressFailed',
        'u1',
        'stage=acquireAddress error=the subnet does not exist or is not in effect (field=ovn.kubernetes.io/logical_switch subnet=nowhere); create the subnet',
      ],
    ])
  })

  it('keeps the port of a member that is away on its switch, and nowhere else', () => {
    const desired = desiredPod(away('10.1.0.2', '10.1.0.2'))
    expect(shownRows(desired)).toEqual([
      {
        row: 'lsp/web.shop',
        name: 'web.shop',
        addresses: ['00:00:5e:00:53:01 10.1.0.2'],
        options: {},
        external_ids: { vendor: 'kube-ovn', ls: 'blue', pod: 'shop/web' },
      },
    ])
    expect(shownMembers(desired)).toEqual(['ls/blue ports: lsp/web.shop'])
  })

  it('records all that a member has that went before it was told', () => {
    const [record, ...others] = shownPatches(desiredPod(away('10.1.0.2,fd00:1::2', '10.1.0.2')))
    expect(record).toMatchObject({
      object: 'ips/web.shop',
      spec: {
        ipAddress: '10.1.0.2,fd00:1::2',
        v6IpAddress: 'fd00:1::2',
        nodeName: 'node-1',
        podType: 'StatefulSet',
      },
    })
    expect(others).toEqual([])
  })

  it('tells of annotations that have no effect, and goes on', () => {
    const ignored = [
      new AnnotationInvalidError({
        field: 'ovn.kubernetes.io/port_vips',
        value: 'x',
        cure: 'write addresses',
      }),
    ]
    const desired = desiredPod({ ...web, pods: [{ ...needs, ignored }] })
    expect(desired.events.map(({ reason, message }) => [reason, message])).toEqual([
      [
        'ValidatePodNetworkFailed',
        'invalid annotation (field=ovn.kubernetes.io/port_vips value=x); write addresses',
      ],
    ])
    expect(shownRows(desired)).toHaveLength(1)
  })

  it.each([
    {
      name: 'removes a record of ours',
      labels: { 'ovn.kubernetes.io/ip_reserved': 'false' },
      isRemoved: true,
    },
    {
      name: 'keeps what a user reserves',
      labels: { 'ovn.kubernetes.io/ip_reserved': 'true' },
      isRemoved: false,
    },
    { name: 'keeps what a user has just made', labels: {}, isRemoved: false },
  ])('when it is gone $name', ({ labels, isRemoved }) => {
    const gone = { ...web, pods: [] }
    const desired = desiredPod({ ...gone, ipObjects: [ip({ name: 'web.shop', labels })] })
    expect(shownRows(desired)).toEqual([])
    expect(shownPatches(desired)).toEqual(
      isRemoved ? [{ object: 'ips/web.shop', remove: true, metadata: { finalizers: null } }] : [],
    )
  })
})
