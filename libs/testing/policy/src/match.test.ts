import { describe, expect, it } from 'vitest'
import { meetsMatch, type MatchedPacket, type MatchNames } from './rows/match.ts'

const packet: MatchedPacket = {
  ...{ inport: 'web.shop', outport: undefined, family: 4, source: '10.16.0.2', destination: '10.16.0.9' },
  ...{ protocol: 'tcp', sourcePort: 40_000, destinationPort: 80 },
}

const names: MatchNames = {
  isInGroup: (group, port) => group === 'shop' && port === 'web.shop',
  addressesOf: (set) => (set === 'peers' ? ['10.16.0.8/30'] : undefined),
}

describe('meetsMatch', () => {
  it.each([
    ['ip', true],
    ['icmp6', false],
    ['inport == @shop && ip', true],
    ['outport == @shop && ip', false],
    ['inport == "web.shop"', true],
    ['inport == @others && ip', false],
    ['ip4.dst == $peers', true],
    ['ip4.dst == $nobody', false],
    ['ip4.dst != $nobody', true],
    // A packet of the other family has no such field.
    ['ip6.dst != $nobody', false],
    ['ip4.src == 10.16.0.0/24 && ip4.src != {10.16.0.4/30, 10.16.0.0/31}', true],
    ['(ip4.src == 10.0.0.0/8 && ip4.src != {10.16.0.0/24}) || ip4.src == 10.16.0.2', true],
    ['80 <= tcp.dst <= 90', true],
    ['81 <= tcp.dst <= 90', false],
    ['udp.dst == 80', false],
    ['inport == @shop && (tcp || udp || sctp)', true],
    ['ip.proto == 112', false],
    ['icmp6.type == {130, 134} && icmp6.code == 0', false],
  ])('reads %s', (match, isMet) => expect(meetsMatch(match, packet, names)).toBe(isMet))

  it.each(['ip4 && tcp || udp', 'ip4.src = 10.0.0.1', 'eth.src == 0a:00:00:00:00:01', '(ip', 'ip4.src =='])(
    'refuses %s',
    (match) => expect(() => meetsMatch(match, packet, names)).toThrow('no match of policies'),
  )
})
