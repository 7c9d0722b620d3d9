import { expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredDenyAll } from './desired.ts'

it('is a group whose ports send and receive nothing, in both tiers', () => {
  const desired = desiredDenyAll()
  const name = 'ovn.sg.kubeovn_deny_all'
  const acl = { priority: 2003, action: 'drop', external_ids: { vendor: 'kube-ovn', parent: name } }
  const out = { direction: 'from-lport', match: `inport == @${name} && ip`, ...acl }
  const into = { direction: 'to-lport', match: `outport == @${name} && ip`, ...acl }
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
  ])
  expect(shownMembers(desired)).toEqual([
    'pg-deny/kubeovn_deny_all acls: acl-deny/from-lport/2',
    'pg-deny/kubeovn_deny_all acls: acl-deny/from-lport/3',
    'pg-deny/kubeovn_deny_all acls: acl-deny/to-lport/2',
    'pg-deny/kubeovn_deny_all acls: acl-deny/to-lport/3',
  ])
})
