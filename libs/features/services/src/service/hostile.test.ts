import { serviceAnnotations } from '@kube-ovn/annotations'
import type { Service } from '@kube-ovn/kube-api/core'
import { endpointSlice, pod, service, vip } from '@kube-ovn/testing-builders'
import { hostileTexts } from '@kube-ovn/domains-control/testing/cost'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import type { Desired } from '@kube-ovn/reconcile'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { StillServices } from './services-fixture.ts'

const attached = 'street.default.kubernetes.io/logical_switch'
const keys = [...Object.values(serviceAnnotations).map(({ key }) => key), attached]

/** What somebody may write, by slip or by intent: what counts somewhere, what nearly does, and what nobody can read. */
const texts: readonly string[] = [
  ...['', 'true', 'false', 'ovn-cluster', 'ovn-default', 'red', 'street.default', 'other', ' '],
  ...['10.96.0.9', '10.96.0.1', '192.0.2.1,2001:db8::1', '2001:db8::1,192.0.2.1', '192.0.2.1,192.0.2.1'],
  ...[
    '192.0.2.1,192.0.2.2',
    '192.0.2.1,2001:db8::1,192.0.2.3',
    '192.0.2.1,',
    ',',
    '0.0.0.0',
    '::',
    '255.255.255.255',
  ],
  ...[
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '010.0.0.1',
    '10.0.0.1/24',
    '10.0.0.1:80',
    '[2001:db8::1]',
    '192.0.2.1\n',
  ],
  ...[
    'a\0b',
    '\u0007\u001b[31m',
    '\ud800',
    '\u202e1.2.0.291',
    '"}],',
    '$(reboot)',
    '../../default/other',
    '__proto__',
  ],
  ...['IPv4 addresses', 'letters'].map((shape) => hostileTexts[shape] ?? ''),
]

const bad = 'default/bad'

function stillServices(loadBalancerLayout: string): StillServices {
  const placed = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': '10.16.0.4',
    'ovn.kubernetes.io/logical_switch': 'ovn-default',
    'ovn.kubernetes.io/logical_router': 'ovn-cluster',
  }
  const source = vip({ name: 'ovn-default', subnet: 'ovn-default' })
  const still = new StillServices(
    { loadBalancerLayout, enableOvnLbPreferLocal: true, ovnLbNodePorts: true },
    {
      pods: [pod({ name: 'web', node: 'n1', annotations: placed })],
      vips: [{ ...source, status: { v4ip: '10.16.0.200', mac: '00:00:00:00:00:01' } }],
    },
  )
  const checked = { [serviceAnnotations.healthCheck.key]: 'true' }
  const chosen = { [serviceAnnotations.switchLbVip.key]: '192.0.2.9' }
  still.put(
    service({ name: 'other', clusterIP: '10.96.0.1', annotations: checked }),
    since(1, service({ name: 'chosen', clusterIP: 'None', annotations: chosen })),
  )
  for (const of of ['other', 'chosen', 'bad'])
    still.putSlices(
      endpointSlice({
        ...{ name: `${of}-1`, service: of },
        endpoints: [{ addresses: ['10.16.0.4'], targetRef: { kind: 'Pod', name: 'web' } }],
      }),
    )
  return still
}

function shown(desired: Desired): unknown {
  return [shownRows(desired), shownMembers(desired)]
}

/** What the database would not take, or what would take it up. */
function unsound(desired: Desired): readonly string[] {
  const rows = desired.rows.map(({ kind, id }) => `${kind.name} ${id}`)
  const entries = desired.members.map((member) =>
    JSON.stringify([member.of, member.column, 'key' in member ? member.key : member.value]),
  )
  const all = JSON.stringify(shown(desired))
  return [
    ...[...rows, ...entries].filter((one, index, every) => every.indexOf(one) !== index),
    ...(all.length > 20_000 ? [`${all.length} characters`] : []),
    ...(/\\u00|\\ud8/.test(all) ? ['no text'] : []),
  ]
}

function annotatedWith(
  annotations: Readonly<Record<string, string>>,
  type: 'ClusterIP' | 'LoadBalancer',
): Service {
  const one = service({ name: 'bad', clusterIP: '10.96.0.66', type, annotations })
  const ingress = [{ ip: '192.0.2.1' }, { ip: '192.0.2.9' }]
  return { ...since(2, one), status: { loadBalancer: { ingress } } }
}

function since(day: number, one: Service): Service {
  return { ...one, metadata: { ...one.metadata, uid: 'u', creationTimestamp: `2026-01-0${day}T00:00:00Z` } }
}

/** Beside which other annotations count. */
const counting = {
  [serviceAnnotations.logicalRouter.key]: 'ovn-cluster',
  [serviceAnnotations.logicalSwitch.key]: 'ovn-default',
  [serviceAnnotations.healthCheck.key]: 'true',
}

const everyOne = keys.flatMap((key) => texts.map((text) => ({ [key]: text })))
const annotations = fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...texts))
const type = fc.constantFrom('ClusterIP' as const, 'LoadBalancer' as const)

it.each(['shared', 'per-service'])(
  'whatever is written on a Service, others have what they had, and it breaks nothing: %s',
  (layout) => {
    const still = stillServices(layout)
    const others = () => ['default/other', 'default/chosen'].map((key) => shown(still.wanted(key)))
    const before = JSON.stringify(others())
    const decide = (said: Readonly<Record<string, string>>, as: 'ClusterIP' | 'LoadBalancer'): void => {
      still.put(annotatedWith(said, as))
      const desired = still.wanted(bad)
      expect(unsound(desired)).toEqual([])
      // One that can not be read keeps what there is of it.
      if (desired.hold === true) expect(desired.events).toHaveLength(1)
      expect(JSON.stringify(others())).toBe(before)
    }
    for (const one of everyOne) {
      decide(one, 'LoadBalancer')
      decide({ ...counting, ...one }, 'ClusterIP')
    }
    fc.assert(fc.property(annotations, type, decide), { numRuns: 100, seed: 16 })
    still.remove(bad)
    expect(JSON.stringify(others())).toBe(before)
  },
)
