import { parseCidr, parseIp } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import {
  addressSet,
  and,
  anyIp,
  eq,
  group,
  inPortGroup,
  InvalidMatchNameError,
  ipDestination,
  ipDestinationSet,
  ipSource,
  ipSourceSet,
  MatchFamilyError,
  ne,
  not,
  or,
  outPortGroup,
  portGroup,
  predicate,
  printMatch,
  transportPort,
  transportPorts,
  type Match,
} from './index.ts'

const subnet = parseCidr('10.69.0.0/16')
const allowed = parseCidr('10.16.0.0/16')
const nodeDns = parseIp('169.254.20.10')

const cases: readonly { name: string; match: Match; want: string }[] = [
  {
    name: 'a destination prefix',
    match: ipDestination(parseCidr('10.16.3.4/16')),
    want: 'ip4.dst == 10.16.0.0/16',
  },
  {
    name: 'an IPv6 destination in canonical form',
    match: ipDestination(parseIp('FD00:0::5')),
    want: 'ip6.dst == fd00::5',
  },
  { name: 'a source given as text', match: ipSource('10.16.3.4/16'), want: 'ip4.src == 10.16.0.0/16' },
  { name: 'a destination given as text', match: ipDestination('FD00::5'), want: 'ip6.dst == fd00::5' },
  { name: 'a host prefix', match: ipSource(parseCidr('fd00::5/128')), want: 'ip6.src == fd00::5/128' },
  {
    name: 'sources in the address set of a port group',
    match: ipSourceSet(4, 'ovn.default.n1_ip4'),
    want: 'ip4.src == $ovn.default.n1_ip4',
  },
  {
    name: 'destinations in an address set',
    match: ipDestinationSet(6, 'web_ip6'),
    want: 'ip6.dst == $web_ip6',
  },
  {
    name: 'the deny-all group, in and out',
    match: or(
      and(inPortGroup('ovn.sg.kubeovn_deny_all'), anyIp),
      and(outPortGroup('ovn.sg.kubeovn_deny_all'), anyIp),
    ),
    want: '(inport == @ovn.sg.kubeovn_deny_all && ip) || (outport == @ovn.sg.kubeovn_deny_all && ip)',
  },
  {
    name: 'blocks with exceptions, and a port',
    match: and(
      outPortGroup('mixed.web'),
      anyIp,
      group(
        or(
          and(
            eq('ip4.src', parseCidr('10.0.0.0/8')),
            ne('ip4.src', [parseCidr('10.1.0.0/16'), parseCidr('10.2.0.0/16')]),
          ),
          eq('ip4.src', parseCidr('192.168.0.0/16')),
        ),
      ),
      transportPort('tcp.dst', 80),
    ),
    want: 'outport == @mixed.web && ip && ((ip4.src == 10.0.0.0/8 && ip4.src != {10.1.0.0/16, 10.2.0.0/16}) || ip4.src == 192.168.0.0/16) && tcp.dst == 80',
  },
  {
    name: 'members of a set but not of another one, on some ports',
    match: and(
      eq('ip6.dst', addressSet('a')),
      ne('ip6.dst', addressSet('b')),
      transportPorts('sctp.dst', 80, 90),
    ),
    want: 'ip6.dst == $a && ip6.dst != $b && 80 <= sctp.dst <= 90',
  },
  {
    name: 'any of some protocols',
    match: and(predicate('ip6'), or(predicate('tcp'), predicate('udp'))),
    want: 'ip6 && (tcp || udp)',
  },
  {
    name: 'the node-local DNS of a node',
    match: and(ipSourceSet(4, 'node.w1_ip4'), ipDestination(nodeDns)),
    want: 'ip4.src == $node.w1_ip4 && ip4.dst == 169.254.20.10',
  },
  {
    name: 'both directions between two subnets',
    match: or(and(ipSource(subnet), ipDestination(allowed)), and(ipSource(allowed), ipDestination(subnet))),
    want: '(ip4.src == 10.69.0.0/16 && ip4.dst == 10.16.0.0/16) || (ip4.src == 10.16.0.0/16 && ip4.dst == 10.69.0.0/16)',
  },
  {
    name: 'nested operands of one kind without parentheses',
    match: and(and(anyIp, ipSource(subnet)), and(ipDestination(allowed))),
    want: 'ip && ip4.src == 10.69.0.0/16 && ip4.dst == 10.16.0.0/16',
  },
  {
    name: 'alternatives inside a conjunction',
    match: and(inPortGroup('g'), or(ipSource(subnet), ipSource(allowed))),
    want: 'inport == @g && (ip4.src == 10.69.0.0/16 || ip4.src == 10.16.0.0/16)',
  },
  {
    name: 'a port by the name of its row',
    match: eq('outport', 'web-"1".shop'),
    want: 'outport == "web-\\"1\\".shop"',
  },
  { name: 'a negated predicate', match: not(anyIp), want: '!ip' },
  {
    name: 'a negated comparison',
    match: and(anyIp, not(ipSource(subnet))),
    want: 'ip && !(ip4.src == 10.69.0.0/16)',
  },
]

describe.each(cases)('printMatch', ({ name, match, want }) => {
  it(`prints ${name}`, () => {
    expect(printMatch(match)).toBe(want)
  })
})

describe('names', () => {
  it.each(['a', '_x', '.x', 'ovn.sg.kubeovn_deny_all', 'A9'])('%s is accepted', (name) => {
    expect(addressSet(name).name).toBe(name)
    expect(portGroup(name).name).toBe(name)
  })

  it.each(['', '9a', 'a-b', '$a', 'a b', 'a || ip', 'ä'])('%j is refused', (name) => {
    expect(() => ipSourceSet(4, name)).toThrow(InvalidMatchNameError)
    expect(() => inPortGroup(name)).toThrow(InvalidMatchNameError)
  })
})

describe('addresses given as text', () => {
  it('are refused when they are none', () => {
    expect(() => ipSource('10.16.0.0/16 || ip')).toThrow('invalid CIDR address')
    expect(() => ipDestination('10.16.0.1 || ip')).toThrow('invalid IP address')
  })
})

describe('eq', () => {
  it('refuses an address of the other family', () => {
    expect(() => eq('ip4.dst', parseIp('fd00::1'))).toThrow(MatchFamilyError)
    expect(() => eq('ip6.src', subnet)).toThrow(MatchFamilyError)
  })
})
