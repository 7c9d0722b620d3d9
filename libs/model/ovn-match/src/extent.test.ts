import { describe, expect, it } from 'vitest'
import { checkMatch, extentOf, meet } from './index.ts'

function isTold(one: string, other: string): readonly boolean[] {
  for (const text of [one, other]) checkMatch(text, 'match')
  const [first, second] = [extentOf(one), extentOf(other)]
  return [meet(first, second), meet(second, first)]
}

type Pair = readonly [one: string, other: string]

describe.each<{ readonly what: string; readonly expected: boolean; readonly pairs: readonly Pair[] }>([
  {
    what: 'are about a packet in common',
    expected: true,
    pairs: [
      ['ip', 'ip4'],
      ['1', 'ip4'],
      ['ip4.src == 10.0.0.1', 'tcp.dst == 22'],
      ['ip4.src == 10.0.0.0/8', 'ip4.src == 10.1.0.0/16'],
      ['ip4.src == 10.1.2.3/8', 'ip4.src == 10.0.0.5'],
      ['ip4.src == 10.0.0.1', 'ip4.dst == 10.0.0.2'],
      ['tcp.dst == {80, 443}', 'tcp.dst == 443'],
      ['443 == tcp.dst', 'ip6 && tcp.dst == 443'],
      ['tcp.dst <= 80', '80 <= tcp.dst <= 90'],
      ['tcp.dst != 80', 'tcp.dst > 79'],
      ['tcp.dst != {80, 81}', 'tcp.dst == 82'],
      ['tcp || udp', 'udp.dst == 53'],
      ['icmp', 'icmp6 && ip6.src == fd00::/8'],
      ['ip.proto == 6', 'tcp'],
      ['(ip4.src == 10.0.0.1 || ip4.dst == 10.0.0.1) && tcp', 'ip4.dst == 10.0.0.0/24'],
      ['inport == @one && ip4.src == 10.0.0.0/8', 'inport == @one && tcp'],
      ['ip4.src == $one', 'ip4.src == $one && udp'],
      ['ip4.src == $one', 'tcp.dst == 22'],
      ['(!ip4.mcast && ip4) || tcp', 'tcp.dst == 1'],
    ],
  },
  {
    what: 'are about none',
    expected: false,
    pairs: [
      ['0', 'ip'],
      ['ip4', 'ip6 && tcp'],
      ['ip4.src == 10.0.0.0/8', 'ip6'],
      ['tcp', 'ip4 && udp.dst == 53'],
      ['icmp4', 'tcp.dst == 80'],
      ['icmp', 'ip6 && ip.proto == 1'],
      ['arp', 'ip4.dst == 10.0.0.1'],
      ['arp', 'ip'],
      ['tcp.dst == 80', 'ip4 && tcp.dst == 443'],
      ['80 <= tcp.dst <= 90', 'tcp.dst == 443'],
      ['80 < tcp.dst < 82', 'tcp.dst != 81'],
      ['tcp.dst < 80', 'tcp.dst >= 80'],
      ['tcp.dst < 0', 'tcp'],
      ['ip4.src == 10.1.0.0/16', 'ip4.src == 10.2.0.0/16'],
      ['ip6.dst == fd00::/64', 'ip6.dst == fd00:0:0:1::5'],
      ['ip4.src == 10.0.0.1 && ip4.src == 10.0.0.2', 'ip4'],
    ],
  },
  {
    what: 'are not told, as far as is looked at',
    expected: false,
    pairs: [
      ['ip4.src == $one', 'ip4.src == $other'],
      ['ip4.src == $one', 'ip4.src == 10.0.0.0/8'],
      ['ip4.src == {10.0.0.1, $one}', 'ip4.src == 10.0.0.1'],
      ['inport == @one', 'inport == "one"'],
      ['!(tcp.dst == 80)', 'udp'],
      ['ip4.src == 10.0.0.1/255.0.0.255', 'ip4.src == 10.0.0.1'],
      ['tcp.dst[0..3] == 1', 'tcp.dst == 1'],
      ['ct.new && ip4', 'ip4'],
      ['nd', 'icmp6'],
      ['is_chassis_resident("port")', 'ip4'],
      ['ip.frag == 3', 'tcp'],
      ['ip4 == 1', 'ip4'],
      [`tcp.dst == {${Array.from({ length: 33 }, (_, index) => 1 + 2 * index).join(', ')}}`, 'tcp.dst == 1'],
    ],
  },
])('two that $what', ({ expected, pairs }) => {
  it.each(pairs)('%s and %s', (one, other) => expect(isTold(one, other)).toEqual([expected, expected]))
})
