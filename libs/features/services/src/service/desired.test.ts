import { serviceAnnotations } from '@kube-ovn/annotations'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { endpointSlice, service } from '@kube-ovn/testing-builders'
import { parseCidrList, parseIpv4 } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredService } from './desired.ts'
import {
  AffinityTooLongError,
  scopedFrontends,
  ServiceVpcError,
  type NodePlace,
} from '@kube-ovn/domains-control/services'
import type { Desired } from '@kube-ovn/reconcile'
import type { ServiceSnapshot } from './snapshot.ts'

const names = {
  plain: { tcp: 't', udp: 'u', sctp: 's' },
  session: { tcp: 't-session', udp: 'u-session', sctp: 's-session' },
}

const web: Service = service({
  clusterIPs: ['10.96.45.7', 'fd00:10:96::2d07'],
  ports: [
    { name: 'http', port: 80, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
})

const ports: EndpointSlice['ports'] = [
  { name: 'http', port: 8080, protocol: 'TCP' },
  { name: 'dns', port: 5353, protocol: 'UDP' },
]

const places: readonly NodePlace[] = [
  { node: 'n1', chassis: 'c1', zone: 'east' },
  { node: 'n2', chassis: 'c2', zone: 'west' },
  { node: 'n3', chassis: 'c3', zone: undefined },
]

type Given = Omit<
  ServiceSnapshot,
  'frontends' | 'places' | 'layout' | 'isMoving' | 'announcers' | 'nodePortFamilies'
> &
  Partial<Pick<ServiceSnapshot, 'announcers' | 'nodePortFamilies'>>

/** Of addresses that follow from the Service and its slices. */
function decide(
  { announcers = new Set(), nodePortFamilies = [], ...given }: Given,
  enableOvnLbPreferLocal = false,
  layout: ServiceSnapshot['layout'] = 'shared',
  external: Parameters<typeof scopedFrontends>[3] = [],
): Desired {
  const frontends = scopedFrontends(given.service, given.slices, { enableOvnLbPreferLocal }, external)
  return desiredService({
    ...given,
    announcers,
    nodePortFamilies,
    frontends,
    places,
    layout,
    isMoving: layout === 'per-service',
  })
}

function entries(
  of: Service,
  slices: readonly EndpointSlice[],
  enableOvnLbPreferLocal = false,
  announcers: ReadonlySet<string> = new Set(),
  external: Parameters<typeof scopedFrontends>[3] = [],
): readonly string[] {
  return shownMembers(
    decide(
      {
        service: of,
        slices,
        announcers,
        vpc: 'ovn-cluster',
        names,
        taken: [],
        check: undefined,
        problem: undefined,
      },
      enableOvnLbPreferLocal,
      'shared',
      external,
    ),
  )
}

describe('the entries of a Service', () => {
  it('are one for each address and port, of the backends of its family', () => {
    const slices = [
      endpointSlice({ ports, endpoints: ['10.16.0.6', '10.16.0.4'] }),
      endpointSlice({ ports, addressType: 'IPv6', endpoints: ['fd00:10:16::4', 'fd00:10:16::6'] }),
    ]
    expect(entries(web, slices)).toEqual([
      'lb/t vips: 10.96.45.7:80=10.16.0.4:8080,10.16.0.6:8080',
      'lb/u vips: 10.96.45.7:53=10.16.0.4:5353,10.16.0.6:5353',
      'lb/t vips: [fd00:10:96::2d07]:80=[fd00:10:16::4]:8080,[fd00:10:16::6]:8080',
      'lb/u vips: [fd00:10:96::2d07]:53=[fd00:10:16::4]:5353,[fd00:10:16::6]:5353',
    ])
  })

  it.each([
    { affinity: undefined, balancer: 't-session' },
    { affinity: 10_800, balancer: 't-session' },
    { affinity: 600, balancer: 't-session-600' },
    { affinity: 86_400, balancer: 't-session-65535' },
  ])('stand in $balancer with affinity for $affinity s', ({ affinity, balancer }) => {
    const of = service({
      clusterIP: '10.96.0.9',
      sessionAffinity: 'ClientIP',
      ...(affinity === undefined
        ? {}
        : { sessionAffinityConfig: { clientIP: { timeoutSeconds: affinity } } }),
    })
    expect(entries(of, [endpointSlice({ endpoints: ['10.16.0.4'] })])).toEqual([
      `lb/${balancer} vips: 10.96.0.9:80=10.16.0.4:8080`,
    ])
  })

  const ended = { ready: false, serving: true, terminating: true }
  const plain = service({ clusterIP: '10.96.0.9' })
  it.each<{ what: string; endpoints: EndpointSlice['endpoints']; want: string }>([
    {
      what: 'who is ready, or does not say',
      endpoints: [
        { addresses: ['10.16.0.1'], conditions: { ready: true } },
        { addresses: ['10.16.0.2'] },
        { addresses: ['10.16.0.3'], conditions: { ready: false, serving: false, terminating: false } },
        { addresses: ['10.16.0.4'], conditions: ended },
      ],
      want: '10.16.0.1:8080,10.16.0.2:8080',
    },
    {
      what: 'who ends and still serves, when nobody is ready',
      endpoints: [
        { addresses: ['10.16.0.3'], conditions: { ready: false, serving: false, terminating: true } },
        { addresses: ['10.16.0.4'], conditions: ended },
      ],
      want: '10.16.0.4:8080',
    },
    {
      what: 'nobody that does not serve although it is not ending',
      endpoints: [
        { addresses: ['10.16.0.4'], conditions: { ready: false, serving: true, terminating: false } },
      ],
      want: '',
    },
    {
      what: 'all addresses of an endpoint, each once, and nothing that is no address',
      endpoints: [
        { addresses: ['10.16.0.5', '10.16.0.4'] },
        { addresses: ['10.16.0.4', 'example.com', 'fd00::1'] },
      ],
      want: '10.16.0.4:8080,10.16.0.5:8080',
    },
  ])('lead to $what', ({ endpoints, want }) => {
    const slice: EndpointSlice = { ...endpointSlice(), endpoints }
    expect(entries(plain, [slice])).toEqual(want === '' ? [] : [`lb/t vips: 10.96.0.9:80=${want}`])
  })

  it('know a port by name and protocol, and need its number', () => {
    const of = (some: EndpointSlice['ports']): EndpointSlice => ({
      ...endpointSlice({ endpoints: ['10.16.0.4'] }),
      ports: some ?? null,
    })
    expect(entries(plain, [of([{ name: 'other', port: 1 }]), of([{ port: 2, protocol: 'UDP' }])])).toEqual([])
    expect(entries(plain, [of([{ name: '' }]), of(null)])).toEqual([])
    expect(entries(plain, [of([{ port: 3 }])])).toEqual(['lb/t vips: 10.96.0.9:80=10.16.0.4:3'])
  })

  it('say in an annotation which VPC they are in', () => {
    const desired = decide({
      service: plain,
      slices: [],
      vpc: 'ovn-cluster',
      names,
      taken: [],
      check: undefined,
      problem: undefined,
    })
    expect(shownPatches(desired)).toEqual([
      {
        object: 'services/default/web',
        metadata: { annotations: { 'ovn.kubernetes.io/vpc': 'ovn-cluster' } },
      },
    ])
  })
})

it('asks backends of which an address is known to ask from, and no others', () => {
  const backend = (address: string, subnet: string) => ({ address, subnet, port: `${subnet}.default` })
  const check = {
    subnet: 'blue',
    backends: [
      backend('10.16.0.4', 'blue'),
      backend('10.17.0.4', 'green'),
      backend('10.18.0.4', 'grey'),
      backend('fd00:10:16::4', 'blue'),
    ],
    sources: { blue: { v4: parseIpv4('10.16.0.9', 'v4') }, green: { v4: parseIpv4('10.17.0.9', 'v4') } },
  }
  const of = service({
    clusterIPs: ['10.96.0.9', 'fd00:10:96::9'],
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'more', port: 90, protocol: 'SCTP' },
    ],
  })
  const all: EndpointSlice['ports'] = [
    { name: 'http', port: 8080, protocol: 'TCP' },
    { name: 'more', port: 9090, protocol: 'SCTP' },
  ]
  const slices = [
    endpointSlice({ ports: all, endpoints: ['10.16.0.4', '10.17.0.4', '10.18.0.4'] }),
    endpointSlice({ ports: all, addressType: 'IPv6', endpoints: ['fd00:10:16::4'] }),
  ]
  const desired = decide({
    service: of,
    slices,
    vpc: 'v',
    names,
    taken: [],
    check,
    problem: undefined,
  })
  expect(shownRows(desired)).toEqual([
    {
      row: 'lb-check/t/10.96.0.9:80',
      vip: '10.96.0.9:80',
      options: { interval: '5', timeout: '20', success_count: '3', failure_count: '3' },
      external_ids: { vendor: 'kube-ovn', switch_lb_subnet: 'blue' },
    },
  ])
  expect(shownMembers(desired).filter((text) => !text.includes(' vips: '))).toEqual([
    'lb/t health_check: lb-check/t/10.96.0.9:80',
    'lb/t ip_port_mappings: 10.16.0.4=blue.default:10.16.0.9',
    'lb/t ip_port_mappings: 10.17.0.4=green.default:10.17.0.9',
  ])
})

it('has none of the entries that another Service has', () => {
  const of = service({ clusterIP: '10.96.0.9' })
  const slices = [endpointSlice({ endpoints: ['10.16.0.4'] })]
  const taken = [{ entry: '10.96.0.9:80', protocol: 'tcp', holder: 'default/other' }] as const
  const desired = decide({
    ...{ service: of, slices, vpc: 'v', names, taken },
    ...{ check: undefined, problem: undefined },
  })
  expect(desired.members).toEqual([])
})

it.each(['None', ''])('is nothing of a Service whose address is %j', (clusterIP) => {
  const of = service({ clusterIP })
  const slices = [endpointSlice({ endpoints: ['10.16.0.4'] })]
  const desired = decide({
    service: of,
    slices,
    vpc: 'ovn-cluster',
    names,
    taken: [],
    check: undefined,
    problem: undefined,
  })
  expect([desired.members, desired.patches]).toEqual([[], []])
})

it('tells what is not as it is written', () => {
  const of = service({ clusterIP: '10.96.0.9' })
  const told = { ...of, metadata: { ...of.metadata, uid: 'u' } }
  const problem = new AffinityTooLongError(86_400)
  const desired = decide({
    service: told,
    slices: [],
    vpc: 'ovn-cluster',
    names,
    taken: [],
    check: undefined,
    problem,
  })
  expect(desired.events.map(({ message }) => message)).toEqual([
    'OVN does not remember clients for so long (field=spec.sessionAffinityConfig.clientIP.timeoutSeconds value=86400); write at most 65535, which is in effect',
  ])
})

it('leaves a Service of a VPC that is not there to others, and tells so', () => {
  const of = service({ clusterIP: '10.96.0.9' })
  const refused = { field: 'ovn.kubernetes.io/vpc', value: 'blue' }
  const desired = decide({
    service: { ...of, metadata: { ...of.metadata, uid: 'u' } },
    slices: [],
    vpc: 'blue',
    names: undefined,
    taken: [],
    check: undefined,
    problem: new ServiceVpcError(refused),
  })
  expect([desired.members, desired.patches]).toEqual([[], []])
  expect(desired.events.map(({ message }) => message)).toEqual([
    'There is no such VPC, or it is an external one (field=ovn.kubernetes.io/vpc value=blue); create the Vpc, or write another one: until then kube-proxy alone serves it',
  ])
})

describe('backends that differ from node to node', () => {
  const on = (nodeName: string, address: string, fields: object = {}) => ({
    addresses: [address],
    nodeName,
    ...fields,
  })
  const slices = [endpointSlice({ endpoints: [on('n1', '10.16.0.4'), on('n2', '10.16.0.5')] })]
  const local = { internalTrafficPolicy: 'Local' as const }

  it('are those on the node of the client alone where the policy says so', () => {
    expect(entries(service({ clusterIP: '10.96.0.9', ...local }), slices)).toEqual([
      'lb/t-nodes-v4 vips: 10.96.0.9:80=^lb.default.web.10_96_0_9.80.tcp',
      'chassis-vars/c1 variables: lb.default.web.10_96_0_9.80.tcp=10.16.0.4:8080',
      'chassis-vars/c2 variables: lb.default.web.10_96_0_9.80.tcp=10.16.0.5:8080',
    ])
  })

  it('have their address in a variable, too, where it is of IPv6', () => {
    const six = [endpointSlice({ addressType: 'IPv6', endpoints: [on('n1', 'fd00:10:16::4')] })]
    const of = service({ clusterIPs: ['fd00:10:96::9'], ...local, sessionAffinity: 'ClientIP' })
    const name = 'lb.default.web.fd00_10_96__9.80.tcp'
    expect(entries(of, six)).toEqual([
      `lb/t-session-nodes-v6 vips: ^${name}.vip:80=^${name}`,
      `chassis-vars/c1 variables: ${name}=[fd00:10:16::4]:8080`,
      `chassis-vars/c1 variables: ${name}.vip=fd00:10:96::9`,
    ])
  })

  it('are on no node where none is ready, and those that end and still serve where these are all', () => {
    const of = service({ clusterIP: '10.96.0.9', ...local })
    const gone = { conditions: { ready: false, serving: false, terminating: true } }
    const ends = { conditions: { ready: false, serving: true, terminating: true } }
    expect(entries(of, [endpointSlice({ endpoints: [on('n1', '10.16.0.4', gone)] })])).toEqual([])
    const some = [endpointSlice({ endpoints: [on('n1', '10.16.0.4', ends), on('n2', '10.16.0.5')] })]
    expect(entries(of, some).slice(1)).toEqual([
      'chassis-vars/c1 variables: lb.default.web.10_96_0_9.80.tcp=10.16.0.4:8080',
      'chassis-vars/c2 variables: lb.default.web.10_96_0_9.80.tcp=10.16.0.5:8080',
    ])
  })

  const zones = (...names: readonly string[]) => ({ hints: { forZones: names.map((name) => ({ name })) } })
  const hinted = (...names: readonly string[]) => ({ hints: { forNodes: names.map((name) => ({ name })) } })
  const [first, second] = ['10.16.0.4:8080', '10.16.0.5:8080']
  it.each<{ what: string; hints: readonly [object, object]; want: readonly string[] }>([
    { what: 'its zone', hints: [zones('east'), zones('west')], want: [first, second, `${first},${second}`] },
    { what: 'its node', hints: [hinted('n2'), hinted('n1')], want: [second, first, `${first},${second}`] },
    {
      what: 'its node, or else its zone',
      hints: [
        { hints: { ...hinted('n1').hints, ...zones('west').hints } },
        { hints: { ...hinted('n1').hints, ...zones('east').hints } },
      ],
      want: [`${first},${second}`, first, `${first},${second}`],
    },
    {
      what: 'nobody, as one has none',
      hints: [zones('east'), {}],
      want: [`${first},${second}`, `${first},${second}`, `${first},${second}`],
    },
  ])('are those for which hints say that they are for $what', ({ hints: [one, other], want }) => {
    const endpoints = [on('n1', '10.16.0.4', one), on('n2', '10.16.0.5', other)]
    const shown = entries(service({ clusterIP: '10.96.0.9' }), [endpointSlice({ endpoints })])
    expect(shown.slice(1).map((text) => text.split('=')[1])).toEqual(want)
  })

  it('under addresses from outside are those on the node while there are any, where OVN is to serve these', () => {
    const outside = service({
      clusterIP: '10.96.0.9',
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
    })
    const ingress = [
      { ip: '172.18.0.200' },
      { hostname: 'web.example.org' },
      { ip: '172.18.0.201', ipMode: 'Proxy' as const },
    ]
    const of = { ...outside, status: { loadBalancer: { ingress } } }
    const inside = `lb/t vips: 10.96.0.9:80=${first},${second}`
    expect(entries(of, slices)).toEqual([inside])
    const annotations = { [serviceAnnotations.attachmentProvider.key]: 'street.shop' }
    const attached = { ...of, metadata: { ...of.metadata, annotations } }
    expect(entries(attached, slices, true), 'a Pod has them').toEqual([inside])
    const name = 'lb.default.web.172_18_0_200.80.tcp'
    expect(entries(of, slices, true)).toEqual([
      inside,
      `lb/t-nodes-v4 vips: 172.18.0.200:80=^${name}`,
      `chassis-vars/c1 variables: ${name}=${first}`,
      `chassis-vars/c2 variables: ${name}=${second}`,
      `chassis-vars/c3 variables: ${name}=${first},${second}`,
    ])
    // Elsewhere there is no entry: whoever asks there comes to the one who announces, by the link.
    expect(entries(of, slices, true, new Set(['n2']))).toEqual([
      inside,
      `lb/t-nodes-v4 vips: 172.18.0.200:80=^${name}`,
      `chassis-vars/c2 variables: ${name}=${second}`,
    ])
    // Two nodes announce addresses of it: both serve theirs.
    expect(entries(of, slices, true, new Set(['n1', 'n2'])).slice(2)).toEqual([
      `chassis-vars/c1 variables: ${name}=${first}`,
      `chassis-vars/c2 variables: ${name}=${second}`,
    ])
    expect(entries(of, slices, true, new Set(['gone']))).toEqual(entries(of, slices, true))
    const cluster = { ...of, spec: { ...of.spec, externalTrafficPolicy: 'Cluster' as const } }
    expect(entries(cluster, slices, true, new Set(['n2']))).toEqual([
      inside,
      `lb/t vips: 172.18.0.200:80=${first},${second}`,
    ])
    // In a Subnet whose nodes lead there who comes from outside, neither the policy nor who announces makes a difference.
    const cidrs = parseCidrList('172.18.0.0/24')
    for (const one of [of, cluster])
      expect(entries(one, slices, false, new Set(['n2']), [{ subnet: 'yard', cidrs }])).toEqual(
        entries(of, slices, true),
      )
  })
})

it('has load balancers of its own, in the group of the VPC, where Services share none', () => {
  const of = service({
    clusterIP: '10.96.0.9',
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 90 } },
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'more', port: 81, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  })
  const all = [{ name: 'more', port: 8081 }, ...(ports ?? [])]
  const slices = [endpointSlice({ ports: all, endpoints: ['10.16.0.4'] })]
  const given = { service: of, slices, vpc: 'v', names, taken: [], check: undefined, problem: undefined }
  const desired = decide(given, false, 'per-service')
  const common = {
    selection_fields: ['ip_src', 'ipv6_src'],
    options: { affinity_timeout: '90' },
    external_ids: { vendor: 'kube-ovn' },
  }
  const [tcp, udp] = ['default/web/tcp', 'default/web/udp']
  expect(shownRows(desired)).toEqual([
    { row: `lb-of/${tcp}`, name: tcp, protocol: 'tcp', ...common },
    { row: `lb-of/${udp}`, name: udp, protocol: 'udp', ...common },
  ])
  expect(shownMembers(desired)).toEqual([
    `lb-of/${tcp} vips: 10.96.0.9:80=10.16.0.4:8080`,
    `lb-of/${tcp} vips: 10.96.0.9:81=10.16.0.4:8081`,
    `lb-of/${udp} vips: 10.96.0.9:53=10.16.0.4:5353`,
    `lb-group/kube-ovn/services/v load_balancer: lb-of/${tcp}`,
    `lb-group/kube-ovn/services/v load_balancer: lb-of/${udp}`,
  ])
  expect((desired.withdrawn ?? []).map(({ of, column, key }) => `${of.id} ${column} ${key}`)).toEqual([
    't-session-90 vips 10.96.0.9:80',
    't-session-90 vips 10.96.0.9:81',
    'u-session-90 vips 10.96.0.9:53',
  ])
})
