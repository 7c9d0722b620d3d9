import { expect, it } from 'vitest'
import { flowsOf } from './index.ts'

const members = new Map([
  ['@one', 1],
  ['@three', 3],
  ['$ten', 10],
  ['$none', 0],
])
const predicted = (text: string) => flowsOf(text, (reference) => members.get(reference) ?? Number.NaN)

const block = 'ip4.src == 10.0.0.0/8'

it.each<[text: string, flows: number]>([
  ['1', 1],
  ['0', 0],
  ['ip', 2],
  ['ip4', 1],
  ['inport == @one && ip', 2],
  ['outport == @one && ip && ip4.src == $ten', 10],
  ['outport == @one && ip && ip4.src == $ten && ip4.src != $none && tcp.dst == 80', 10],
  ['ip4.src == $none && tcp.dst == 80', 0],
  // Of each field apart, and one for those that meet.
  ['outport == @three && ip && ip4.src == $ten', 3 + 10 + 1],
  ['ip && ip4.src == $ten && tcp.dst == {80, 443, 8080}', 10 + 3 + 1],
  ['outport == @three && ip && ip4.src == $ten && tcp.dst == {80, 443, 8080}', 3 + 10 + 3 + 1],
  ['ip && ip6.src == $ten && (sctp.dst == {1, 9} || 16 <= sctp.dst <= 31)', 10 + 10 + 1],
  // Of what is about several fields, each by all.
  ['ip && ip4.src == $ten && (tcp.dst == {80, 443} || udp.dst == {1, 2})', 80],
  ['ip && tcp.dst == {80, 443}', 4],
  ['80 <= tcp.dst <= 80 && ip4', 1],
  ['1000 <= tcp.dst <= 2000 && ip4', 11],
  ['tcp.dst >= 1 && tcp.dst < 65535 && ip4', 30],
  ['tcp.dst >= 1024 && ip4', 16],
  ['ip6 && tcp.dst <= 1023', 11],
  ['0 <= tcp.dst <= 65535 && ip4', 1],
  ['90 <= tcp.dst <= 80 && ip4', 0],
  [block, 1],
  [`${block} && ip4.src != 10.1.0.0/16`, 8],
  [`ip4.src != {10.1.0.0/16, 10.2.3.0/24} && ${block}`, 8 * 16],
  [
    `ip && ((${block} && ip4.src != {10.1.0.0/16}) || ip4.src == {11.0.0.0/8, 12.0.0.0/8}) && udp.dst == 53`,
    10,
  ],
  ['ip4.src != 10.0.0.1', 32],
  ['icmp6.type == {133, 134} && icmp6.code == 0', 2],
])('%s is %i OpenFlow rules', (text, flows) => expect(predicted(text)).toBe(flows))

it.each(['!(tcp.dst == 80)', 'tcp.dst[0..3] == 1', 'tcp.flags[1]', 'is_chassis_resident("port")'])(
  'of %s nobody knows',
  (text) => expect(predicted(`ip4 && ${text}`)).toBeUndefined(),
)
