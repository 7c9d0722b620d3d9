import { describe, expect, it } from 'vitest'
import { networkPolicyRows, parseNetworkPolicy, type NetworkPolicyScene } from './index.ts'
import { policy, rulesOf, scene, type Spec } from './network-policy.fixture.ts'

/** Its rules, without what brings connections to them. */
function shown(spec: Spec, given: Partial<NetworkPolicyScene> = {}): readonly string[] {
  return rulesOf(networkPolicyRows(parseNetworkPolicy(policy(spec)), { ...scene, ...given })).map(
    ({ direction, priority, match, action }) => `${direction} ${priority} ${match} ${action}`,
  )
}

const drop = 'to-lport 2000 outport == @web.shop && ip drop'
const peers =
  'outport == @web.shop && ip && ip4.src == $web.shop.ingress.allow.IPv4.0 && ip4.src != $web.shop.ingress.except.IPv4.0'
const nobody =
  'to-lport 2001 outport == @web.shop && ip && ip4.src == $web.shop.ingress.allow.IPv4.all && ip4.src != $web.shop.ingress.except.IPv4.all allow-related'

describe('a direction', () => {
  it.each<[what: string, spec: Spec, want: readonly string[]]>([
    ['ingress without types', {}, [drop, nobody]],
    [
      'ingress where the list of types is empty',
      { policyTypes: [], ingress: [{}] },
      [drop, `to-lport 2001 ${peers} allow-related`],
    ],
    [
      'ingress alone, whatever rules there are for egress',
      { policyTypes: ['Ingress'], egress: [{}] },
      [drop, nobody],
    ],
    [
      'egress by its rules alone',
      { policyTypes: ['Egress'], ingress: [{}], egress: [{ ports: [{ protocol: 'UDP', port: 53 }] }] },
      [
        'from-lport 2000 inport == @web.shop && ip drop',
        'from-lport 2001 inport == @web.shop && ip && ip4.dst == $web.shop.egress.allow.IPv4.0 && ip4.dst != $web.shop.egress.except.IPv4.0 && udp.dst == 53 allow-related',
      ],
    ],
    ['everybody', { ingress: [{}] }, [drop, `to-lport 2001 ${peers} allow-related`]],
  ])('is restricted: %s', (_what, spec, want) => {
    expect(shown(spec)).toEqual(want)
  })

  it('has its families, and neighbour discovery with IPv6', () => {
    expect(shown({ ingress: [{}] }, { families: [4, 6] }).filter((acl) => acl.includes('icmp6'))).toEqual([
      'from-lport 2001 icmp6 allow-stateless',
      'to-lport 2001 icmp6 allow-stateless',
    ])
    expect(shown({ ingress: [{}] }, { families: [] })).toEqual([])
  })

  it('has no more of ICMPv6 than that where only neighbours are to pass', () => {
    const acls = shown({ ingress: [{}] }, { families: [4, 6], passesIcmpv6: false })
    const discovery = 'icmp6.type == {133, 134, 135, 136} && icmp6.code == 0 && ip.ttl == 255'
    expect(acls.filter((acl) => acl.includes('icmp6'))).toEqual([
      `from-lport 2001 inport == @web.shop && ${discovery} allow-stateless`,
      `to-lport 2001 outport == @web.shop && ${discovery} allow-stateless`,
    ])
  })

  it('is restricted in TCP, UDP and SCTP alone where it is lax', () => {
    expect(shown({}, { isLax: true, families: [4, 6] }).slice(0, 3)).toEqual([
      'to-lport 2000 outport == @web.shop && (tcp || udp || sctp) drop',
      'to-lport 2001 outport == @web.shop && udp.src == 547 && udp.dst == 546 && ip6 allow-related',
      'to-lport 2001 outport == @web.shop && udp.src == 67 && udp.dst == 68 && ip4 allow-related',
    ])
  })
})

describe('a rule', () => {
  const block = (text: string): string =>
    `to-lport 2001 outport == @web.shop && ip && (${text}) allow-related`
  it.each<[what: string, peer: object, want: readonly string[]]>([
    ['a block', { ipBlock: { cidr: '10.0.0.0/8' } }, [block('ip4.src == 10.0.0.0/8')]],
    // OVN refuses bits of a host.
    ['a block with bits of a host', { ipBlock: { cidr: '10.1.2.3/8' } }, [block('ip4.src == 10.0.0.0/8')]],
    ['a block of the other family', { ipBlock: { cidr: 'fd00::/64' } }, []],
    [
      'a block with exceptions',
      { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] } },
      [block('ip4.src == 10.0.0.0/8 && ip4.src != {10.1.0.0/16, 10.2.0.0/16}')],
    ],
    [
      'a block with exceptions that multiply',
      { ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/9', '10.192.0.1/32'] } },
      [block('ip4.src == 10.0.0.0/8 && ip4.src != {10.0.0.0/9, 10.192.0.1/32}')],
    ],
    [
      'a block with more of these than a node should have',
      {
        ipBlock: {
          cidr: '0.0.0.0/1',
          except: ['64.0.0.0/2', '32.0.0.0/3', '16.0.0.0/4', '1.0.0.0/8', '8.0.0.0/5', '4.0.0.0/6'],
        },
      },
      [block('ip4.src == {0.0.0.0/8, 2.0.0.0/7}')],
    ],
    [
      'a block whose exception lies outside',
      { ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } },
      [],
    ],
    ['what is no block', { ipBlock: { cidr: 'everything' } }, []],
    ['pods', { podSelector: {} }, [`to-lport 2001 ${peers} allow-related`]],
  ])('allows %s', (_what, peer, want) => {
    expect(shown({ ingress: [{ from: [peer] }] }).slice(1)).toEqual(want)
  })

  it('joins its blocks, and each of its ports', () => {
    const from = [
      { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
      { ipBlock: { cidr: '192.168.0.0/16' } },
    ]
    const ports = [
      { port: 80 },
      { protocol: 'UDP' },
      { protocol: 'SCTP', port: 80, endPort: 90 },
      { port: 80 },
    ]
    const blocks = '((ip4.src == 10.0.0.0/8 && ip4.src != {10.1.0.0/16}) || ip4.src == 192.168.0.0/16)'
    expect(shown({ ingress: [{ from, ports }] }).slice(1)).toEqual(
      ['tcp.dst == 80', 'udp', '80 <= sctp.dst <= 90'].map(
        (port) => `to-lport 2001 outport == @web.shop && ip && ${blocks} && ${port} allow-related`,
      ),
    )
  })

  it('has no ACL for peers that there are not, but their sets', () => {
    const spec = { ingress: [{ from: [{ podSelector: {} }] }] }
    expect(shown(spec, { peerFamilies: () => [6] })).toEqual([drop])
    const { sets } = networkPolicyRows(parseNetworkPolicy(policy(spec)), scene)
    expect(sets).toEqual([
      { name: 'web.shop.ingress.allow.IPv4.0', direction: 'ingress', addresses: [] },
      { name: 'web.shop.ingress.except.IPv4.0', direction: 'ingress', addresses: [] },
    ])
  })

  it('knows named ports by their numbers, and allows nothing by one that nobody has', () => {
    const spec = { ingress: [{ ports: [{ port: 'http' }] }] }
    expect(shown(spec)).toEqual([drop])
    expect(
      shown(spec, { numbersOf: (...asked) => (asked.join() === 'ingress,0,tcp,http' ? [80, 8080] : []) }),
    ).toEqual([
      drop,
      `to-lport 2001 ${peers} && tcp.dst == 80 allow-related`,
      `to-lport 2001 ${peers} && tcp.dst == 8080 allow-related`,
    ])
  })
})

it.each<[spec: Spec, want: readonly string[]]>([
  [{ ingress: [{}] }, ['to-lport 0 0 outport == @web.shop && ip', 'to-lport 1 0 outport == @web.shop && ip']],
  // Behind load balancers OVN asks every tier about every packet.
  [{ policyTypes: ['Egress'] }, []],
])('is asked about connections that are open, by ACLs in the tiers before it: %j', (spec, want) => {
  const { acls } = networkPolicyRows(parseNetworkPolicy(policy(spec)), scene)
  const passed = acls.filter(({ action }) => action === 'pass')
  expect(
    passed.map(({ direction, tier, priority, match }) => `${direction} ${tier} ${priority} ${match}`),
  ).toEqual(want)
})

it('names its ACLs, no longer than OVN lets it', () => {
  const long = 'p'.repeat(80)
  const rows = networkPolicyRows(parseNetworkPolicy(policy({ ingress: [{}] })), {
    ...scene,
    ...{ name: long, group: `${long}.shop` },
  })
  expect(rulesOf(rows).map(({ name }) => name)).toEqual([
    `shop/${'p'.repeat(55)}...`,
    `np/${'p'.repeat(57)}...`,
  ])
})

it('logs what it drops, or what it allows as well, no faster than it says', () => {
  const logged = (annotations: Readonly<Record<string, string>>): unknown => {
    const rows = networkPolicyRows(parseNetworkPolicy(policy({ ingress: [{}] }, annotations)), scene)
    return {
      acls: rulesOf(rows).map(({ isLogged, severity, meter }) => [isLogged, severity, meter]),
      meters: rows.meters,
    }
  }
  const key = (name: string): string => `ovn.kubernetes.io/${name}`
  const off = {
    acls: [
      [false, undefined, undefined],
      [false, undefined, undefined],
    ],
    meters: [],
  }
  expect(logged({ [key('acl_log_meter_rate')]: '5' })).toEqual(off)
  expect(logged({ [key('enable_log')]: 'true' })).toEqual({
    acls: [
      [true, 'warning', undefined],
      [false, undefined, undefined],
    ],
    meters: [],
  })
  const all = {
    [key('enable_log')]: 'true',
    [key('log_acl_actions')]: 'allow,drop',
    [key('acl_log_meter_rate')]: '5',
  }
  const meter = 'web.shop_to-lport_meter'
  expect(logged(all)).toEqual({
    acls: [
      [true, 'warning', meter],
      [true, undefined, meter],
    ],
    // Nothing is denied on the way out, so nothing is logged there.
    meters: [{ name: meter, rate: 5 }],
  })
})

describe('what can not be used', () => {
  it.each<[what: string, spec: Spec, annotations: Readonly<Record<string, string>>, told: readonly string[]]>(
    [
      [
        'an exception outside',
        { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['9.0.0.0/16'] } }] }] },
        {},
        ['spec.ingress[0].from[0].ipBlock.except[0]'],
      ],
      [
        'no prefix',
        { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/99' } }] }] },
        {},
        ['spec.egress[0].to[0].ipBlock.cidr'],
      ],
      [
        'a protocol',
        { ingress: [{ ports: [{ protocol: 'ICMP' }] }] },
        {},
        ['spec.ingress[0].ports[0].protocol'],
      ],
      [
        'a named range',
        { ingress: [{ ports: [{ port: 'a', endPort: 9 }] }] },
        {},
        ['spec.ingress[0].ports[0].endPort'],
      ],
      [
        'ports upside down',
        { ingress: [{ ports: [{ port: 9, endPort: 8 }] }] },
        {},
        ['spec.ingress[0].ports[0].port'],
      ],
      [
        'a rate',
        {},
        { 'ovn.kubernetes.io/acl_log_meter_rate': '-1' },
        ['ovn.kubernetes.io/acl_log_meter_rate'],
      ],
      [
        'a network',
        {},
        { 'ovn.kubernetes.io/network_policy_for': 'a/b/c, ovn' },
        ['ovn.kubernetes.io/network_policy_for'],
      ],
    ],
  )('is told: %s', (_what, spec, annotations, told) => {
    const { problems } = parseNetworkPolicy(policy(spec, annotations))
    expect(problems.map(({ details }) => (details as { readonly field?: string }).field)).toEqual(told)
  })

  it.each([
    ['', undefined],
    ['ovn', ['ovn']],
    ['OVN, shop/storage', ['ovn', 'storage.shop.ovn']],
    ['all', []],
  ])('names networks: %j', (text, want) => {
    expect(
      parseNetworkPolicy(policy({}, { 'ovn.kubernetes.io/network_policy_for': text })).providers,
    ).toEqual(want)
  })
})
