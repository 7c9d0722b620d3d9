import { describe, expect, it } from 'vitest'
import { desiredHostFirewall } from './desired.ts'
import { desiredSysctls } from './sysctls.ts'
import type { HostFirewallSnapshot } from './snapshot.ts'

const dual: HostFirewallSnapshot = {
  subnets: ['10.16.0.0/16', '100.64.0.0/16', 'fd00:10:16::/112'],
  natOutgoing: ['10.16.0.0/16', 'fd00:10:16::/112'],
  services: ['10.96.0.0/12', 'fd00:10:96::/112'],
  otherNodes: ['192.0.2.11', '2001:db8::11'],
  nodeAddresses: ['192.0.2.10', '2001:db8::10'],
}

it('renders the whole table for both families', async () => {
  await expect(`${JSON.stringify(desiredHostFirewall(dual), undefined, 2)}\n`).toMatchFileSnapshot(
    '__golden__/dual-stack.json',
  )
})

function elementsOf(snapshot: HostFirewallSnapshot): Readonly<Record<string, readonly unknown[]>> {
  return Object.fromEntries(desiredHostFirewall(snapshot).sets.map((set) => [set.name, set.elements]))
}

function commentsOf(snapshot: HostFirewallSnapshot): readonly (string | undefined)[] {
  return desiredHostFirewall(snapshot).chains.flatMap((chain) => chain.rules.map((rule) => rule.comment))
}

describe('desiredHostFirewall', () => {
  it('sorts prefixes and addresses into the sets of their families', () => {
    expect(elementsOf(dual)).toEqual({
      'subnets-4': [{ prefix: { addr: '10.16.0.0', len: 16 } }, { prefix: { addr: '100.64.0.0', len: 16 } }],
      'subnets-6': [{ prefix: { addr: 'fd00:10:16::', len: 112 } }],
      'subnets-nat-4': [{ prefix: { addr: '10.16.0.0', len: 16 } }],
      'subnets-nat-6': [{ prefix: { addr: 'fd00:10:16::', len: 112 } }],
      'services-4': [{ prefix: { addr: '10.96.0.0', len: 12 } }],
      'services-6': [{ prefix: { addr: 'fd00:10:96::', len: 112 } }],
      'other-nodes-4': ['192.0.2.11'],
      'other-nodes-6': ['2001:db8::11'],
    })
  })

  it('empties the set of natOutgoing when it is switched off, and nothing else', () => {
    const off = { ...dual, natOutgoing: [] }
    expect(elementsOf(off)).toEqual({ ...elementsOf(dual), 'subnets-nat-4': [], 'subnets-nat-6': [] })
    expect(desiredHostFirewall(off).chains).toEqual(desiredHostFirewall(dual).chains)
  })

  it('translates service replies only for families in which the node has an address', () => {
    const both = commentsOf(dual).filter((comment) => comment === 'service reply to pod')
    const one = commentsOf({ ...dual, nodeAddresses: ['192.0.2.10'] }).filter(
      (c) => c === 'service reply to pod',
    )
    expect([both.length, one.length]).toEqual([2, 1])
  })

  it('marks before kube-proxy translates and masquerades before kube-proxy does', () => {
    const priorities = desiredHostFirewall(dual).chains.map((chain) => [chain.name, chain.base?.priority])
    expect(Object.fromEntries(priorities)).toMatchObject({ 'mark-services': -105, masquerade: 95 })
  })
})

describe('desiredSysctls', () => {
  it('lets the node forward in the families that pods have', () => {
    expect([...desiredSysctls({ hasIpv4: true, hasIpv6: true })]).toEqual([
      ['ipv4/ip_forward', '1'],
      ['ipv4/conf/all/rp_filter', '0'],
      ['ipv6/conf/all/forwarding', '1'],
    ])
    expect([...desiredSysctls({ hasIpv4: false, hasIpv6: true }).keys()]).toEqual([
      'ipv6/conf/all/forwarding',
    ])
  })
})
