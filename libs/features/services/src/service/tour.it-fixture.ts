import { outside, type Backend, type End, type Owner, type Step } from './steps.it-fixture.ts'

function slice(
  owner: Owner,
  ends: readonly (Backend | readonly [of: Backend, is: End['is']])[],
  more: Partial<Extract<Step, { what: 'slice' }>> = {},
): Step {
  const all = ends.map((end): End => {
    if (typeof end === 'string') return { of: end, is: 'ready' }
    const [of, is] = end
    return { of, is }
  })
  const usual = { family: 'IPv4', part: 1, isNew: true, hints: null, protocol: 'TCP' } as const
  return { what: 'slice', owner, ends: all, ...usual, ...more }
}

const settle: Step = { what: 'settle' }
const hinted = (hints: 'forNodes' | 'forZones'): readonly Step[] =>
  ([1, 2] as const).map((nth) => slice('a', nth === 1 ? ['p1', 'p2'] : ['stranger'], { hints, part: nth }))

/** A walk past each rule by which clients are led, whatever else is drawn. */
export const tour: readonly Step[] = [
  // The same backend in two slices, and one that ends while others are ready.
  slice('a', ['p1', 'p2'], { family: 'IPv6' }),
  slice('a', ['p2', ['stranger', 'ending']], { part: 2 }),
  settle,
  // From outside: where it is announced, in the underlay, and by way of who announces it.
  { what: 'announce', name: 'a', node: 'n2' },
  settle,
  { what: 'ingress', name: 'a', ips: [...outside], ipMode: 'VIP' },
  settle,
  { what: 'yard', enableLb: true, enableExternalLBAddress: false, u2oInterconnection: true },
  { what: 'announce', name: 'a', node: null },
  slice('a', ['p1']),
  slice('a', [], { part: 2 }),
  settle,
  { what: 'yard', enableLb: true, enableExternalLBAddress: true, u2oInterconnection: true },
  settle,
  { what: 'attach', name: 'a', isAttached: true },
  settle,
  { what: 'attach', name: 'a', isAttached: false },
  { what: 'ingress', name: 'a', ips: [...outside], ipMode: 'Proxy' },
  // Near to the client: on the node alone, then as hints say.
  { what: 'policy', name: 'a', policy: 'Local', distribution: null },
  settle,
  { what: 'policy', name: 'a', policy: 'Cluster', distribution: 'PreferClose' },
  ...hinted('forNodes'),
  settle,
  ...hinted('forZones'),
  { what: 'affinity', name: 'a', seconds: 60 },
  settle,
  { what: 'node', node: 'n2', isTold: true, zone: null },
  { what: 'door', name: 'a', type: 'LoadBalancer', policy: 'Cluster' },
  { what: 'ingress', name: 'a', ips: ['172.18.0.200'], ipMode: 'VIP' },
  settle,
  // Nobody is ready, one ends; another protocol; a time of affinity.
  slice('b', [
    ['p1', 'ending'],
    ['p2', 'down'],
  ]),
  { what: 'affinity', name: 'b', seconds: 60 },
  settle,
  { what: 'service', name: 'b', stack: 'IPv4', port: 81, protocol: 'UDP' },
  settle,
  slice('b', ['p1', 'p2'], { protocol: 'UDP' }),
  { what: 'door', name: 'b', type: 'NodePort', policy: 'Local' },
  settle,
  // Addresses of choice, of which the older rule has what both want; another VPC.
  { what: 'rule', kind: 'slr', rule: 'front', port: 80 },
  { what: 'check of rule', kind: 'slr', rule: 'front', says: 'false' },
  slice('slr-front', ['p1', 'p2']),
  settle,
  { what: 'create vpc' },
  { what: 'subnet', subnet: 'rose' },
  { what: 'pod', pod: 'r1' },
  { what: 'service', name: 'c', stack: 'both', port: 80, protocol: 'TCP' },
  slice('c', ['r1']),
  settle,
  { what: 'vpc', name: 'c', vpc: 'red', by: 'logicalRouter' },
  slice('c', ['r1', 'r2']),
  settle,
  { what: 'turn', name: 'c', to: 'headless' },
]
