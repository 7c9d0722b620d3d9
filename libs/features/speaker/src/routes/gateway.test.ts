import type { IptablesEip } from '@kube-ovn/kube-api'
import { expect, it } from 'vitest'
import { gatewayPrefixes } from './gateway.ts'

const bgp = 'ovn.kubernetes.io/bgp'

function eip(overrides: {
  readonly policy?: string
  readonly spec?: IptablesEip['spec']
  readonly ready?: boolean
  readonly deletionTimestamp?: string
}): IptablesEip {
  const { policy = 'true', spec = { v4ip: '192.0.2.10' }, ready = true, deletionTimestamp } = overrides
  return {
    metadata: {
      name: 'one',
      annotations: policy === '' ? {} : { [bgp]: policy },
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec,
    status: { ready },
  }
}

it.each<[string, IptablesEip, readonly string[]]>([
  ['an IPv4 address', eip({}), ['192.0.2.10/32']],
  [
    'both families',
    eip({ spec: { v4ip: '192.0.2.10', v6ip: '2001:DB8::a' } }),
    ['192.0.2.10/32', '2001:db8::a/128'],
  ],
  ['the other word for it', eip({ policy: 'cluster' }), ['192.0.2.10/32']],
  ['none without the annotation', eip({ policy: '' }), []],
  ['none before the gateway answers', eip({ ready: false }), []],
  ['none of one that is being deleted', eip({ deletionTimestamp: '2026-01-01T00:00:00Z' }), []],
  ['none without an address', eip({ spec: { v4ip: '', v6ip: '' } }), []],
])('announces %s', (_, object, prefixes) => {
  expect(gatewayPrefixes([object])).toEqual({ prefixes: new Set(prefixes), problems: [] })
})

it('announces an address once that two objects have', () => {
  expect([...gatewayPrefixes([eip({}), eip({})]).prefixes]).toEqual(['192.0.2.10/32'])
})

it.each<[string, IptablesEip, object]>([
  [
    'no policy',
    eip({ policy: 'yes' }),
    { field: bgp, value: 'yes', cure: 'write true, cluster or local, or remove it' },
  ],
  [
    'local',
    eip({ policy: 'local' }),
    { field: bgp, value: 'local', cure: 'write true: a gateway is in one place' },
  ],
  [
    'no address',
    eip({ spec: { v4ip: '192.0.2.300' } }),
    { field: 'spec.v4ip', value: '192.0.2.300', cure: 'write an IPv4 address' },
  ],
  [
    'an address of the other family',
    eip({ spec: { v6ip: '192.0.2.9' } }),
    { field: 'spec.v6ip', value: '192.0.2.9', cure: 'write an IPv6 address' },
  ],
])('tells of %s, and announces the others', (_, object, problem) => {
  const other = eip({ spec: { v4ip: '192.0.2.11' } })
  expect(gatewayPrefixes([object, other])).toEqual({
    prefixes: new Set(['192.0.2.11/32']),
    problems: [{ object: 'IptablesEIP/one', ...problem }],
  })
})
