import { describe, expect, it } from 'vitest'
import { desiredHostFirewall } from './desired.ts'
import { desiredSysctls } from './sysctls.ts'
import type { HostFirewallSnapshot } from './snapshot.ts'

const dual: HostFirewallSnapshot = {
  subnets: ['10.16.0.0/16', '100.64.0.0/16', 'fd00:10:16::/112'],
  natOutgoing: ['10.16.0.0/16', 'fd00:10:16::/112'],
  natRules: [],
  fixedSources: [],
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

  it('sends a subnet with rules through them, first match first, and what they leave over on to natOutgoing', () => {
    const table = desiredHostFirewall({
      ...dual,
      natRules: [
        {
          name: 'x'.repeat(200),
          uid: '00000000-0000-4000-8000-123456789abc',
          prefixes: ['10.16.0.0/16', 'fd00:10:16::/112'],
          natRules: [
            {
              id: '343ff13b29dd',
              action: 'forward',
              sources: ['10.16.0.0/28', '10.16.0.0/24'],
              destinations: ['8.8.8.8'],
            },
            { id: 'f17d79654b98', action: 'nat', sources: [], destinations: ['9.9.9.9'] },
          ],
        },
      ],
    })
    const chainNamed = (name: string) => table.chains.find((chain) => chain.name === name)
    const inList = (field: string, set: string) => ({
      match: { op: '==', left: { payload: { protocol: 'ip', field } }, right: `@${set}` },
    })
    expect(chainNamed('nat-rules-123456789abc')?.rules.map(({ statements }) => statements)).toEqual([
      [
        inList('saddr', 'nat-rule-343ff13b29dd-src-4'),
        inList('daddr', 'nat-rule-343ff13b29dd-dst-4'),
        { accept: null },
      ],
      [inList('daddr', 'nat-rule-f17d79654b98-dst-4'), { goto: { target: 'masquerade-now' } }],
    ])
    const comments = chainNamed('masquerade')?.rules.map(({ comment }) => comment) ?? []
    // None of IPv6, of which no rule is.
    expect(comments.slice(-3)).toEqual([
      `rules of subnet ${'x'.repeat(84)}`,
      ...['natOutgoing', 'natOutgoing'],
    ])
    expect(table.sets.map(({ name }) => name).filter((name) => name.startsWith('nat-rule-'))).toEqual([
      ...['nat-rule-343ff13b29dd-src-4', 'nat-rule-343ff13b29dd-dst-4', 'nat-rule-f17d79654b98-dst-4'],
    ])
  })

  it('gives a subnet its own address where it leaves, and drops what is in the middle of a flow', () => {
    const table = desiredHostFirewall({
      ...dual,
      fixedSources: [{ subnet: 'blue', prefix: 'fd00:10:16::/112', address: '2001:db8::30' }],
    })
    const from = {
      match: {
        op: '==',
        left: { payload: { protocol: 'ip6', field: 'saddr' } },
        right: { prefix: { addr: 'fd00:10:16::', len: 112 } },
      },
    }
    const outside = {
      match: { op: '!=', left: { payload: { protocol: 'ip6', field: 'daddr' } }, right: '@subnets-6' },
    }
    const rulesOf = (name: string) => table.chains.find((chain) => chain.name === name)?.rules ?? []
    const own = rulesOf('masquerade').findIndex(({ comment }) => comment === 'address of subnet blue')
    expect(rulesOf('masquerade')[own]?.statements).toEqual([
      ...[from, outside],
      { snat: { addr: '2001:db8::30', family: 'ip6', flags: ['fully-random'] } },
    ])
    expect(rulesOf('masquerade')[own + 1]?.comment).toBe('natOutgoing')
    expect(rulesOf('drop-unknown-flows').map(({ statements }) => statements.slice(0, 2))).toEqual([
      [from, outside],
    ])
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
