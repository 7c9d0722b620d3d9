import type { SecurityGroupRule, SecurityGroupSpec } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { isSyncedIn, parseSecurityGroup, securityGroupRows } from './index.ts'

const scene = {
  group: 'ovn.sg.web',
  groupOf: (name: string) => (name === 'friends' ? 'ovn.sg.friends' : undefined),
}

/** What is allowed or forbidden beside what every group has, as an administrator would type it. */
function shown(spec: SecurityGroupSpec): {
  readonly acls: readonly string[]
  readonly told: readonly string[]
} {
  const parsed = parseSecurityGroup({ spec })
  const { acls, problems } = securityGroupRows(parsed, scene)
  return {
    acls: acls
      .filter(({ priority }) => priority !== 2005)
      .map((acl) => `${acl.direction} ${acl.tier} ${acl.priority} ${acl.match} ${acl.action}`),
    told: [...parsed.problems, ...problems].map(({ details }) => {
      const { field, value } = details as { field: string; value: string }
      return `${field}=${value}`
    }),
  }
}

const any: SecurityGroupRule = {
  ...{ ipVersion: 'ipv4', protocol: 'all', priority: 10, policy: 'allow' },
  ...{ remoteType: 'address', remoteAddress: '10.0.0.0/8' },
}
const web: SecurityGroupRule = { ...any, protocol: 'tcp', portRangeMin: 80, portRangeMax: 443 }
const into = 'to-lport 2 18474 outport == @ovn.sg.web && ip4 && ip4.src == 10.0.0.0/8'

describe('a security group', () => {
  it('lets be reached in any case what could not be reached otherwise', () => {
    const { acls } = securityGroupRows(parseSecurityGroup({}), scene)
    const texts = acls.map(({ direction, tier, match }) => `${direction} ${tier} ${match}`)
    const ofTier = (text: string): readonly string[] => [`to-lport 2 ${text}`, `to-lport 3 ${text}`]
    expect(texts.filter((text) => text.startsWith('to-lport'))).toEqual([
      ...ofTier('outport == @ovn.sg.web && arp'),
      ...ofTier(
        'outport == @ovn.sg.web && icmp6.type == {130, 134, 135, 136} && icmp6.code == 0 && ip.ttl == 255',
      ),
      ...ofTier('outport == @ovn.sg.web && udp.src == 547 && udp.dst == 546 && ip6'),
      ...ofTier('outport == @ovn.sg.web && udp.src == 67 && udp.dst == 68 && ip4'),
      ...ofTier('outport == @ovn.sg.web && ip.proto == 112'),
    ])
    expect(texts).toContain(
      'from-lport 3 inport == @ovn.sg.web && icmp6.type == {130, 133, 135, 136} && icmp6.code == 0 && ip.ttl == 255',
    )
    expect(texts).toHaveLength(20)
  })

  it.each<[what: string, rule: SecurityGroupRule, want: string]>([
    ['all', any, `${into} allow-related`],
    ['no protocol', { ...any, protocol: '' }, `${into} allow-related`],
    ['TCP', web, `${into} && 80 <= tcp.dst <= 443 allow-related`],
    ['SCTP', { ...web, protocol: 'sctp' }, `${into} && 80 <= sctp.dst <= 443 allow-related`],
    ['pings', { ...any, protocol: 'icmp' }, `${into} && icmp4 allow-related`],
    ['pass', { ...any, policy: 'pass' }, `${into} pass`],
    ['deny', { ...any, policy: 'deny' }, `${into} drop`],
    [
      'the last priority',
      { ...any, priority: 16384 },
      'to-lport 2 2100 outport == @ovn.sg.web && ip4 && ip4.src == 10.0.0.0/8 allow-related',
    ],
    [
      'an own address',
      { ...web, localAddress: '10.0.0.9', sourcePortRangeMin: 1, sourcePortRangeMax: 9 },
      `${into} && ip4.dst == 10.0.0.9 && 80 <= tcp.dst <= 443 && 1 <= tcp.src <= 9 allow-related`,
    ],
    [
      'a group',
      { ...any, remoteType: 'securityGroup', remoteSecurityGroup: 'friends' },
      'to-lport 2 18474 outport == @ovn.sg.web && ip4 && ip4.src == $ovn.sg.friends.associated.v4 allow-related',
    ],
    [
      'pings of IPv6',
      { ...any, ipVersion: 'ipv6', remoteAddress: 'fd00::1', protocol: 'icmp' },
      'to-lport 2 18474 outport == @ovn.sg.web && ip6 && ip6.src == fd00::1 && icmp6 allow-related',
    ],
  ])('has rules: %s', (_what, rule, want) => {
    expect(shown({ ingressRules: [rule] })).toEqual({ acls: [want], told: [] })
  })

  it('has rules for what it sends, and tiers', () => {
    const own = { localAddress: '10.0.0.0/16', sourcePortRangeMin: 1, sourcePortRangeMax: 9 }
    expect(shown({ tier: 1, egressRules: [{ ...web, ...own }] }).acls).toEqual([
      'from-lport 3 18474 inport == @ovn.sg.web && ip4 && ip4.dst == 10.0.0.0/8 && ip4.src == 10.0.0.0/16 && 80 <= tcp.dst <= 443 && 1 <= tcp.src <= 9 allow-related',
    ])
  })

  it('lets members talk to each other', () => {
    expect(shown({ allowSameGroupTraffic: true }).acls).toEqual([
      'to-lport 2 2004 outport == @ovn.sg.web && ip4 && ip4.src == $ovn.sg.web.associated.v4 allow-related',
      'to-lport 2 2004 outport == @ovn.sg.web && ip6 && ip6.src == $ovn.sg.web.associated.v6 allow-related',
      'from-lport 2 2004 inport == @ovn.sg.web && ip4 && ip4.dst == $ovn.sg.web.associated.v4 allow-related',
      'from-lport 2 2004 inport == @ovn.sg.web && ip6 && ip6.dst == $ovn.sg.web.associated.v6 allow-related',
    ])
  })
})

describe('what can not be carried out', () => {
  it.each<[what: string, change: SecurityGroupRule, want: string]>([
    ['a priority', { priority: 0 }, 'priority=0'],
    ['a priority', { priority: 16385 }, 'priority=16385'],
    ['a family', { ipVersion: 'ipv5' }, 'ipVersion=ipv5'],
    ['an address', { remoteAddress: '10.0.0.300' }, 'remoteAddress=10.0.0.300'],
    ['an address of the other family', { remoteAddress: 'fd00::/64' }, 'remoteAddress=fd00::/64'],
    ['an own address', { localAddress: 'here' }, 'localAddress=here'],
    ['own ports', { localAddress: '10.0.0.1', sourcePortRangeMin: 5 }, 'sourcePortRangeMax='],
    ['a kind of remote', { remoteType: 'cidr' }, 'remoteType=cidr'],
    ['a group that has no name', { remoteType: 'securityGroup' }, 'remoteSecurityGroup='],
    ['a protocol', { protocol: 'gre' }, 'protocol=gre'],
    ['a port', { portRangeMin: 0 }, 'portRangeMin=0'],
    ['a port', { portRangeMax: 65536 }, 'portRangeMax=65536'],
    ['a range', { portRangeMax: 79 }, 'portRangeMax=79'],
  ])('allows nothing, is told, and leaves the rest: %s', (_what, change, want) => {
    const rules = [{ ...web, ...change }, any]
    expect(shown({ ingressRules: rules, allowSameGroupTraffic: true })).toEqual({
      acls: expect.arrayContaining([`${into} allow-related`]) as unknown,
      told: [`spec.ingressRules[0].${want}`],
    })
    expect(shown({ ingressRules: rules }).acls).toHaveLength(1)
  })

  it('has a group of which there is none', () => {
    const rule = { ...any, remoteType: 'securityGroup', remoteSecurityGroup: 'nobody' }
    expect(shown({ egressRules: [rule, any] })).toEqual({
      acls: [expect.stringContaining('10.0.0.0/8') as unknown],
      told: ['spec.egressRules[0].remoteSecurityGroup=nobody'],
    })
  })

  it('drops by a word that is none, and says so', () => {
    expect(shown({ ingressRules: [{ ...any, policy: 'Allow' }] })).toEqual({
      acls: [`${into} drop`],
      told: ['spec.ingressRules[0].policy=Allow'],
    })
  })

  it('lets nothing through behind a rule that may forbid it', () => {
    const broken = { ...any, policy: 'drop', priority: 20, remoteAddress: '10.0.0.0/33' }
    const before = { ...any, priority: 19 }
    const behind = { ...any, priority: 20, protocol: 'icmp' }
    const forbidden = { ...any, priority: 30, policy: 'drop' }
    const spec = { allowSameGroupTraffic: true, ingressRules: [broken, before, behind, forbidden] }
    const { acls, told } = shown(spec)
    expect(told).toEqual(['spec.ingressRules[0].remoteAddress=10.0.0.0/33'])
    expect(acls.filter((acl) => acl.startsWith('to-lport'))).toEqual([
      'to-lport 2 18465 outport == @ovn.sg.web && ip4 && ip4.src == 10.0.0.0/8 allow-related',
      'to-lport 2 18454 outport == @ovn.sg.web && ip4 && ip4.src == 10.0.0.0/8 drop',
    ])
    expect(acls.filter((acl) => acl.startsWith('from-lport'))).toHaveLength(2)
  })

  it('does not pass what comes after nothing', () => {
    expect(shown({ tier: 1, ingressRules: [{ ...any, policy: 'pass' }, any] })).toEqual({
      acls: [],
      told: ['spec.ingressRules[0].policy=pass'],
    })
  })

  it('allows nothing in a tier that there is not', () => {
    expect(shown({ tier: 2, allowSameGroupTraffic: true, ingressRules: [any] })).toEqual({
      acls: [],
      told: ['spec.tier=2'],
    })
  })

  it.each<[what: string, other: SecurityGroupRule, isRefused: boolean]>([
    ['all of it', { policy: 'drop' }, true],
    ['a part of it', { policy: 'drop', remoteAddress: '10.1.0.0/16' }, true],
    ['one protocol of it', { policy: 'drop', protocol: 'icmp' }, true],
    ['a group', { policy: 'drop', remoteType: 'securityGroup', remoteSecurityGroup: 'friends' }, true],
    ['what tier 1 is to decide', { policy: 'pass' }, true],
    ['something else', { policy: 'drop', remoteAddress: '11.0.0.0/8' }, false],
    ['another priority', { policy: 'drop', priority: 11 }, false],
    ['the same', {}, false],
  ])('contradicts a rule of its priority: %s', (_what, other, isRefused) => {
    const { told, acls } = shown({ ingressRules: [any, { ...any, ...other }] })
    expect(told).toEqual(isRefused ? ['spec.ingressRules[0].priority=10'] : [])
    expect(acls.some((acl) => acl === `${into} allow-related`)).toBe(!isRefused)
  })

  it('tells ports apart', () => {
    const other = { ...web, policy: 'drop', portRangeMin: 444, portRangeMax: 500 }
    expect(shown({ ingressRules: [web, other] }).told).toEqual([])
    expect(shown({ ingressRules: [web, { ...other, portRangeMin: 443 }] }).told).toHaveLength(1)
  })

  it('is about its direction, or both', () => {
    const { problems } = parseSecurityGroup({ spec: { egressRules: [{ ...any, priority: 0 }] } })
    expect([isSyncedIn('ingress', problems), isSyncedIn('egress', problems)]).toEqual([true, false])
    const whole = parseSecurityGroup({ spec: { tier: 7 } }).problems
    expect([isSyncedIn('ingress', whole), isSyncedIn('egress', whole)]).toEqual([false, false])
  })
})
