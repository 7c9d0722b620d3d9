import type { EgressFirewallRule } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { egressFirewallRows, parseEgressFirewall, readFirewallLog } from './index.ts'

/** ACLs of its rules, sets with addresses, and what has no effect. */
function shown(...egress: readonly unknown[]) {
  return shownWith({ followsNames: false }, ...egress)
}

function shownWith(names: { readonly followsNames: boolean }, ...egress: readonly unknown[]) {
  const spec = { egress: egress as readonly EgressFirewallRule[] }
  const metadata = { name: 'default', namespace: 'back-office' }
  const firewall = parseEgressFirewall({ metadata, spec }, names)
  const { acls, sets } = egressFirewallRows(firewall, 'back-office', () => ['172.18.0.2', 'fd00:18::2'])
  return {
    acls: acls.map(
      ({ direction, tier, priority, match, action, isAfterBalancing }) =>
        `${direction}${isAfterBalancing ? ' after-lb' : ''} ${tier} ${priority} ${match} ${action}`,
    ),
    sets: Object.fromEntries(sets.map(({ name, addresses }) => [name, addresses])),
    problems: firewall.problems.map(({ details }) => {
      const { field, value, cure } = details as Readonly<Record<string, string>>
      return `${field} "${value}": ${cure}`
    }),
  }
}

const group = '@egress_firewall.back.office'
const inside = [4, 6].map(
  (family) =>
    `from-lport after-lb 0 10001 inport == ${group} && ip${family}.dst == $egress_firewall_inside.IPv${family} pass`,
)
const followed = `from-lport after-lb 3 1 inport == ${group} && ip allow-related`

function rules(...egress: readonly unknown[]): readonly string[] {
  return shown(...egress).acls.filter((acl) => acl !== followed && !inside.includes(acl))
}

describe('a firewall', () => {
  it('is before all policies, passes on what it allows, and has nothing to say inside of the cluster', () => {
    expect(
      shown(
        { type: 'Allow', to: { cidrSelector: '192.0.2.0/24' } },
        { type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } },
      ),
    ).toEqual({
      acls: [
        `from-lport after-lb 0 10000 inport == ${group} && ip4.dst == 192.0.2.0/24 pass`,
        `from-lport after-lb 0 9999 inport == ${group} && ip4.dst == 0.0.0.0/0 drop`,
        ...[...inside, followed],
      ],
      sets: {},
      problems: [],
    })
  })

  it('has no rows without rules', () => {
    expect(shown()).toEqual({ acls: [], sets: {}, problems: [] })
  })

  it('has room for many ports, and allows nothing or denies all of them where there is none', () => {
    const ports = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ protocol: 'TCP', port: at + 1 }))
    const rule = (type: string, host: number, count: number) => ({
      ...{ type, to: { cidrSelector: `192.0.2.${host}/32` } },
      ...(count === 0 ? {} : { ports: ports(count) }),
    })
    const { acls, problems } = shown(
      rule('Allow', 1, 16_000),
      rule('Allow', 2, 400),
      rule('Deny', 3, 400),
      rule('Deny', 4, 2),
      rule('Deny', 5, 0),
    )
    const most = 'write fewer ports: those of all rules may come to 16384 on a node'
    expect(problems).toEqual([
      `spec.egress[1].ports "400 OpenFlow rules": ${most}; until then the rule allows nothing`,
      `spec.egress[2].ports "400 OpenFlow rules": ${most}; until then the rule denies all ports`,
    ])
    expect(
      acls.filter((acl) => acl.includes('192.0.2.')).map((acl) => acl.replace(/^.*192\.0\.2\./, '')),
    ).toEqual([
      '1/32 && 1 <= tcp.dst <= 16000 pass',
      '3/32 drop',
      ...['4/32 && tcp.dst == 1 drop', '4/32 && tcp.dst == 2 drop'],
      '5/32 drop',
    ])
  })

  it('is about ports by protocol and number', () => {
    const ports = [
      { protocol: 'TCP', port: 443 },
      { protocol: 'UDP', port: 53 },
      { protocol: 'SCTP', port: 1 },
    ]
    expect(rules({ type: 'Allow', to: { cidrSelector: '2001:db8::/32' }, ports })).toEqual(
      ['tcp.dst == 443', 'udp.dst == 53', 'sctp.dst == 1'].map(
        (port) =>
          `from-lport after-lb 0 10000 inport == ${group} && ip6.dst == 2001:db8::/32 && ${port} pass`,
      ),
    )
  })

  it('knows nodes by a set for each family', () => {
    const { acls, sets } = shown({ type: 'Deny', to: { nodeSelector: {} } })
    expect(acls.slice(0, 2)).toEqual(
      [4, 6].map(
        (family) =>
          `from-lport after-lb 0 10000 inport == ${group} && ip${family}.dst == $egress_firewall.back.office.0.IPv${family} drop`,
      ),
    )
    expect(sets).toEqual({
      'egress_firewall.back.office.0.IPv4': ['172.18.0.2'],
      'egress_firewall.back.office.0.IPv6': ['fd00:18::2'],
    })
  })
})

describe('its log', () => {
  const key = 'k8s.ovn.org/acl-logging'

  it.each<[text: string | undefined, log: object, told: readonly string[]]>([
    [undefined, {}, []],
    ['', {}, []],
    ['{}', {}, []],
    ['{"deny":"alert","allow":"debug","pass":"info"}', { drop: 'alert', pass: 'debug' }, []],
    ['{"deny":"","allow":"notice"}', { pass: 'notice' }, []],
    ['{"deny":"Alert","allow":"warning"}', { pass: 'warning' }, [`${key} deny "Alert"`]],
    ['{"deny":1}', {}, [`${key} "{"deny":1}"`]],
    ['alert', {}, [`${key} "alert"`]],
    ['["alert"]', {}, [`${key} "["alert"]"`]],
  ])('is what the namespace says: %s', (text, log, told) => {
    const read = readFirewallLog(text === undefined ? undefined : { [key]: text })
    expect(read.log).toEqual({ pass: undefined, drop: undefined, ...log })
    expect(
      read.problems.map(({ details }) => {
        const { field, value } = details as Readonly<Record<string, string>>
        return `${field} "${value}"`
      }),
    ).toEqual(told)
  })
})

describe('a DNS name', () => {
  const follows = { followsNames: true }

  it('stands for the addresses that are known of it, in both families', () => {
    const { acls, sets, problems } = shownWith(follows, { type: 'Allow', to: { dnsName: '*.Example.COM' } })
    expect(acls.filter((acl) => acl !== followed && !inside.includes(acl))).toEqual(
      [4, 6].map(
        (family) =>
          `from-lport after-lb 0 10000 inport == ${group} && ip${family}.dst == $egress_firewall.back.office.0.IPv${family} pass`,
      ),
    )
    expect([sets, problems]).toEqual([
      {
        'egress_firewall.back.office.0.IPv4': ['172.18.0.2'],
        'egress_firewall.back.office.0.IPv6': ['fd00:18::2'],
      },
      [],
    ])
  })

  it.each(['localhost', 'a_b.example.com', 'www.*.com', 'bücher.example', '', `${'a.'.repeat(127)}a`, '.'])(
    'that is none fails closed: %j',
    (dnsName) => {
      const [allowed, denied] = ['Allow', 'Deny'].map((type) => shownWith(follows, { type, to: { dnsName } }))
      expect([allowed?.sets, allowed?.acls]).toEqual([{}, []])
      expect(denied?.acls).toContain(`from-lport after-lb 0 10000 inport == ${group} && ip drop`)
      expect(denied?.problems).toEqual([
        expect.stringContaining(`spec.egress[0].to.dnsName "${dnsName}": write a name like www.example.com`),
      ])
    },
  )
})

describe('what can not be read', () => {
  const closed = [`from-lport after-lb 0 10000 inport == ${group} && ip drop`]
  const everybody = 'until then the rule denies everything outside of the cluster'
  const outside = { cidrSelector: '0.0.0.0/0' }

  it.each<[what: string, rule: unknown, acls: readonly string[], problem: string]>([
    [
      'a name that is allowed',
      { type: 'Allow', to: { dnsName: 'example.com' } },
      [],
      'spec.egress[0].to.dnsName "example.com": start the controller with --enable-dns-name-resolver (features.ENABLE_DNS_NAME_RESOLVER), or write networks; until then it allows nothing',
    ],
    [
      'a name that is denied',
      { type: 'Deny', to: { dnsName: 'example.com' } },
      closed,
      `spec.egress[0].to.dnsName "example.com": start the controller with --enable-dns-name-resolver (features.ENABLE_DNS_NAME_RESOLVER), or write networks; ${everybody}`,
    ],
    [
      'two destinations',
      { type: 'Deny', to: { ...outside, dnsName: 'a' } },
      closed,
      `spec.egress[0].to "cidrSelector,dnsName": write one of cidrSelector, dnsName and nodeSelector; ${everybody}`,
    ],
    [
      'no destination',
      { type: 'Allow' },
      [],
      'spec.egress[0].to "": write one of cidrSelector, dnsName and nodeSelector; until then it allows nothing',
    ],
    [
      'a type that is none',
      { type: 'Maybe', to: outside },
      [`from-lport after-lb 0 10000 inport == ${group} && ip4.dst == 0.0.0.0/0 drop`],
      'spec.egress[0].type "Maybe": write Allow or Deny; until then it denies',
    ],
    [
      'a port that is denied',
      { type: 'Deny', to: outside, ports: [{ protocol: 'TCP', port: 0 }] },
      closed,
      `spec.egress[0].ports[0].port "0": write a number from 1 to 65535; ${everybody}`,
    ],
    [
      'a protocol that is allowed',
      { type: 'Allow', to: outside, ports: [{ protocol: 'ICMP', port: 1 }] },
      [],
      'spec.egress[0].ports[0].protocol "ICMP": write TCP, UDP or SCTP; until then it allows nothing',
    ],
    [
      'a protocol that every object has',
      { type: 'Allow', to: outside, ports: [{ protocol: 'constructor', port: 1 }] },
      [],
      'spec.egress[0].ports[0].protocol "constructor": write TCP, UDP or SCTP; until then it allows nothing',
    ],
    ['nothing', null, closed, 'spec.egress[0].type "": write Allow or Deny; until then it denies'],
  ])('fails closed: %s', (_what, rule, acls, problem) => {
    expect(rules(rule)).toEqual(acls)
    expect(shown(rule).problems).toContain(problem)
  })

  it('fails closed: a prefix', () => {
    const rule = { to: { cidrSelector: '10.0.0.0/40' } }
    expect([rules({ ...rule, type: 'Allow' }), rules({ ...rule, type: 'Deny' })]).toEqual([[], closed])
    expect(shown({ ...rule, type: 'Allow' }).problems).toEqual([
      expect.stringMatching(
        /^spec\.egress\[0\]\.to\.cidrSelector "10\.0\.0\.0\/40": .*; until then it allows nothing$/,
      ),
    ])
  })

  it('is a firewall with another name: nothing of it is in effect', () => {
    const metadata = { name: 'other', namespace: 'shop' }
    const { rules: read, problems } = parseEgressFirewall({
      metadata,
      spec: { egress: [{ type: 'Deny', to: outside }] },
    })
    expect([read, problems.map(({ details }) => (details as { readonly field?: string }).field)]).toEqual([
      [],
      ['metadata.name'],
    ])
  })

  it('is what comes behind the 8,000th rule, but for what it denies', () => {
    const many = Array.from({ length: 8000 }, () => ({ type: 'Allow', to: { cidrSelector: '192.0.2.1/32' } }))
    const late = { cidrSelector: '198.51.100.0/24' }
    const { acls, problems } = shown(...many, { type: 'Allow', to: late }, { type: 'Deny', to: late })
    expect(acls.filter((acl) => acl.includes('198.51.100'))).toEqual([
      `from-lport after-lb 0 2000 inport == ${group} && ip4.dst == 198.51.100.0/24 drop`,
    ])
    expect(problems).toEqual([expect.stringContaining('spec.egress "8002 rules"')])
  })
})
