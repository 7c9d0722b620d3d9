import type { NetworkPolicy } from '@kube-ovn/kube-api/core'
import { groupAclId, networkPolicyAclId } from '@kube-ovn/ovn-names'
import { describe, expect, it } from 'vitest'
import { parseAdminPolicy } from '../admin-policy.ts'
import { adminPolicyRows } from '../admin-policy-rows.ts'
import { parseEgressFirewall } from '../egress-firewall.ts'
import { egressFirewallRows } from '../egress-firewall-rows.ts'
import { parseNetworkPolicy } from '../network-policy.ts'
import { networkPolicyRows } from '../network-policy-rows.ts'
import { policy, scene } from '../network-policy.fixture.ts'
import { parseSecurityGroup } from '../security-group.ts'
import { securityGroupRows } from '../security-group-rows.ts'
import { subnetAcls } from '../subnet-acls.ts'
import type { PolicyAcl } from '../acl.ts'
import { originOfRow } from './row-origin.ts'

/** Where each ACL leads that the compiler makes, by field and what it does there, each once. */
function originsOf(
  owner: string,
  acls: readonly PolicyAcl[],
  idOf: (acl: PolicyAcl) => string,
): readonly string[] {
  const told = acls.map((acl) => {
    const origin = originOfRow({ owner, id: idOf(acl), name: acl.name ?? '', acl })
    return `${origin?.kind} ${origin?.key} ${origin?.field ?? '-'}: ${origin?.role}`
  })
  return [...new Set(told)]
}

const both = { from: [{ podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8' } }] }

describe('an ACL of a NetworkPolicy leads to its rule', () => {
  const acls = (object: NetworkPolicy, isLax = false, name = 'web') =>
    networkPolicyRows(parseNetworkPolicy(object), {
      ...scene,
      ...{ name, group: `${name}.shop`, families: [4, 6], isLax },
    }).acls
  const shown = (owner: string, of: readonly PolicyAcl[]) =>
    originsOf(owner, of, (acl) => `acl-np/${networkPolicyAclId('web.shop', acl)}`)

  it('by peers, blocks, and what none allows', () => {
    const object = policy({ policyTypes: ['Ingress', 'Egress'], ingress: [{ from: [] }, both], egress: [] })
    expect(shown('network-policy/shop/web', acls(object))).toEqual([
      'NetworkPolicy shop/web spec.policyTypes: denies what no rule for ingress allows',
      'NetworkPolicy shop/web spec.ingress[0]: allows peers',
      'NetworkPolicy shop/web spec.ingress[1]: allows peers',
      'NetworkPolicy shop/web spec.ingress[1]: allows blocks of addresses',
      'NetworkPolicy shop/web spec.policyTypes: denies what no rule for egress allows',
      'NetworkPolicy shop/web spec.egress: allows peers',
      'NetworkPolicy shop/web -: what neighbours of IPv6 are found by',
      'NetworkPolicy shop/web -: brings connections that are open to what stops packets',
    ])
  })

  it('by its address set where OVN does not take the whole of its name', () => {
    const name = 'x'.repeat(60)
    const found = acls(policy({ ingress: [both, both] }), false, name).filter(
      ({ match }) => match.includes('$') && match.includes('.1 '),
    )
    expect(shown(`network-policy/multi:shop/${name}`, found)).toEqual([
      `MultiNetworkPolicy shop/${name} spec.ingress[1]: allows peers`,
    ])
  })

  it('or to what lets DHCP pass', () => {
    expect(shown('network-policy/shop/web', acls(policy({ ingress: [] }), true))).toContain(
      'NetworkPolicy shop/web -: lets DHCP pass',
    )
  })
})

it('an ACL of a policy of an administrator leads to its rule', () => {
  const parsed = parseAdminPolicy('cnp', {
    metadata: { name: 'guard' },
    spec: {
      ...{ tier: 'Admin', priority: 3, subject: { namespaces: {} } },
      ingress: [{ action: 'Pass', from: [{ namespaces: {} }] }],
      egress: [
        { action: 'Accept', to: [{ namespaces: {} }] },
        { action: 'Deny', to: [{ networks: ['::/0'] }] },
      ],
    },
  })
  const { acls } = adminPolicyRows(parsed, {
    ...{ kind: 'cnp', name: 'guard', group: 'guard', families: [4, 6], place: parsed.place },
    ...{ stopsOpenConnections: true, addressesOf: () => [], numbersOf: () => [] },
  })
  expect(originsOf('admin-policy/cnp/guard', acls, (acl) => `acl-admin/${groupAclId('guard', acl)}`)).toEqual(
    [
      'ClusterNetworkPolicy guard spec.ingress[0]: passes on',
      'ClusterNetworkPolicy guard spec.egress[0]: allows',
      'ClusterNetworkPolicy guard spec.egress[1]: denies',
    ],
  )
})

it('an ACL of an EgressFirewall leads to its rule', () => {
  const parsed = parseEgressFirewall({
    metadata: { name: 'default' },
    spec: {
      egress: [
        { type: 'Allow', to: { nodeSelector: {} } },
        { type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } },
      ],
    },
  })
  const { acls } = egressFirewallRows(parsed, 'shop', () => [])
  expect(
    originsOf('egress-firewall/shop/default', acls, (acl) => `acl-egress-firewall/${acl.match}`),
  ).toEqual([
    'EgressFirewall shop/default spec.egress[0]: allows',
    'EgressFirewall shop/default spec.egress[1]: denies',
    'EgressFirewall shop/default -: leaves what is inside of the cluster alone',
    'EgressFirewall shop/default -: has connections followed, so that answers pass',
  ])
})

it('an ACL of a SecurityGroup leads to the rules of its priority', () => {
  const rule = {
    ...{ ipVersion: 'ipv4', protocol: 'icmp', priority: 7, policy: 'allow' },
    ...{ remoteType: 'address', remoteAddress: '10.0.0.1' },
  }
  const parsed = parseSecurityGroup({ spec: { allowSameGroupTraffic: true, ingressRules: [rule] } })
  const { acls } = securityGroupRows(parsed, { group: 'ovn.sg.a', groupOf: () => undefined })
  expect(originsOf('security-group/a', acls, (acl) => `acl-sg/${groupAclId('ovn.sg.a', acl)}`)).toEqual([
    'SecurityGroup a -: lets through what ports always need',
    'SecurityGroup a spec.allowSameGroupTraffic: allows members',
    'SecurityGroup a spec.ingressRules of priority 7: allows',
  ])
})

it('an ACL of a subnet leads to what of its specification it is made of', () => {
  const { own, rules } = subnetAcls({
    ...{
      subnet: 'blue',
      isPrivate: true,
      isReachedByNodes: true,
      logRate: undefined,
      allowsInside: true,
      stopsOpenConnections: true,
    },
    rules: [{ direction: 'from-lport', priority: 5, match: 'tcp', action: 'reject' }],
    families: [{ family: 4, cidr: '10.17.0.0/16', nodes: '100.64.0.0/16', allowed: [] }],
  })
  const ids = new Map([...own].map(([about, acl]) => [acl, `acl-private/blue/${about}`]))
  const told = originsOf(
    'subnet-acl/blue',
    [...own.values(), ...rules],
    (acl) => ids.get(acl) ?? 'acl-subnet/blue/x',
  )
  expect(told).toEqual([
    'Subnet blue spec.private: denies what comes from elsewhere',
    'Subnet blue spec.private: allows itself',
    'Subnet blue spec.private: allows nodes',
    'Subnet blue spec.acls of priority 5: does reject',
    'Subnet blue spec.acls of priority 1900, or spec.allowEWTraffic: does allow',
    'Subnet blue -: brings connections that are open to what stops packets',
  ])
})

it.each([
  ['pod-port/shop/web', 'lsp/web.shop'],
  ['toString/x', 'acl/x'],
  ['nobody of ours', ''],
  ['admin-policy/other/x', 'acl-admin/x'],
  ['egress-firewall/', 'as-egress-firewall/egress_firewall_inside.IPv4'],
])('a row of %s is no policy of anybody', (owner, id) => {
  expect(originOfRow({ owner, id, name: '' })).toBeUndefined()
})

it.each([
  [
    'network-policy/shop/web',
    'as-np/web.shop.egress.allow.IPv6.2',
    'spec.egress[2]: addresses of IPv6 of its peers',
  ],
  ['network-policy/shop/web', 'pg-np/web.shop', '-: the ports that it is for'],
  ['network-policy/shop/web', 'meter-np/web.shop_to-lport_meter', '-: how much of it is logged'],
  ['admin-policy/anp/a', 'as-admin/a.ingress.0..IPv4', 'spec.ingress[0]: addresses of IPv4 of its peers'],
  [
    'egress-firewall/shop/default',
    'as-egress-firewall/egress_firewall.shop.3.IPv4',
    'spec.egress[3]: addresses that it is about',
  ],
  ['security-group/a', 'as-sg/ovn.sg.a.associated.v4', '-: addresses of its members'],
])('a row of %s, %s, leads to %s', (owner, id, told) => {
  const origin = originOfRow({ owner, id, name: id.slice(id.indexOf('/') + 1) })
  expect(`${origin?.field ?? '-'}: ${origin?.role}`).toBe(told)
})
