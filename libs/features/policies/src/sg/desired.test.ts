import { expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredDenyAll } from './desired.ts'

const plain = { log: false, options: {} }

it('is a group whose ports send and receive nothing, in both tiers', () => {
  const desired = desiredDenyAll({ hasBaseline: false, stopsOpenConnections: true })
  const name = 'ovn.sg.kubeovn_deny_all'
  const acl = { ...plain, priority: 2003, action: 'drop', external_ids: { vendor: 'kube-ovn', parent: name } }
  const out = { direction: 'from-lport', match: `inport == @${name} && ip`, ...acl }
  const into = { direction: 'to-lport', match: `outport == @${name} && ip`, ...acl }
  const passed = { priority: 0, action: 'pass' }
  expect(shownRows(desired)).toEqual([
    {
      row: 'pg-deny/kubeovn_deny_all',
      name,
      external_ids: { vendor: 'kube-ovn', type: 'security_group', sg: 'kubeovn_deny_all' },
    },
    { row: 'acl-deny/from-lport/2', tier: 2, ...out },
    { row: 'acl-deny/from-lport/3', tier: 3, ...out },
    { row: 'acl-deny/to-lport/2', tier: 2, ...into },
    { row: 'acl-deny/to-lport/3', tier: 3, ...into },
    // Connections that are open are brought to them.
    ...[0, 1].map((tier) => ({ row: `acl-deny/to-lport/${tier}`, ...into, ...passed, tier })),
    ...[0, 1].map((tier) => ({ row: `acl-deny/from-lport/${tier}`, ...out, ...passed, tier })),
  ])
  expect(shownMembers(desired)).toEqual(
    shownRows(desired)
      .slice(1)
      .map(({ row }) => `pg-deny/kubeovn_deny_all acls: ${String(row)}`),
  )
})

it('lets ports past tier 2 whose groups are all of tier 1', () => {
  const desired = desiredDenyAll({ hasBaseline: true, stopsOpenConnections: true })
  const name = 'ovn.sg.kubeovn_baseline'
  const acl = {
    ...plain,
    tier: 2,
    priority: 2004,
    action: 'pass',
    external_ids: { vendor: 'kube-ovn', parent: name },
  }
  expect(shownRows(desired).slice(9)).toEqual([
    {
      row: 'pg-baseline/kubeovn_baseline',
      name,
      external_ids: { vendor: 'kube-ovn', type: 'security_group', sg: 'kubeovn_baseline' },
    },
    { row: 'acl-baseline/from-lport', direction: 'from-lport', match: `inport == @${name} && ip`, ...acl },
    { row: 'acl-baseline/to-lport', direction: 'to-lport', match: `outport == @${name} && ip`, ...acl },
  ])
})
