import { expect, it } from 'vitest'
import { checkMatch, InvalidMatchError } from './index.ts'

function cureOf(text: string): string | undefined {
  try {
    checkMatch(text, 'spec.acls[0].match')
    return undefined
  } catch (error) {
    if (error instanceof InvalidMatchError) return error.details.cure
    throw error
  }
}

it.each([
  'ip4.src == 10.17.0.5',
  'ip6 && tcp.dst == 22',
  'ip',
  '1',
  '0',
  'ip4.src == 10.17.0.0/16 && ip4.dst == 10.17.0.0/255.255.0.0',
  'ip6.src == fd00:10:17::/112 && ip6.dst == fd00:10:17::/112',
  '(ip4.src == 10.0.0.0/8 && ip4.dst == 1.2.3.4) || (ip4.src == 1.2.3.4 && ip4.dst == 10.0.0.0/8)',
  'ip4.src == {10.0.0.1, 10.0.0.2 10.0.0.3,}',
  'ip4.src == $pods && ip4.dst != $others.v4_1',
  'inport == @pg1 && outport == {"a.b", "c\\"d"}',
  'inport=="web-0.shop"&&ip',
  'tcp.dst >= 1000 && tcp.dst <= 2000',
  '1000 <= tcp.dst < 2000',
  '10.0.0.1 == ip4.src',
  'eth.src == 00:00:5e:00:53:01/ff:ff:ff:00:00:00',
  'eth.dst == ff:ff:ff:ff:ff:ff',
  'eth.src[40] == 1',
  'tcp.flags == 0x002/0x012',
  'tcp.flags[1]',
  'vlan.vid[0..3] == 5',
  'eth.type == 0x800',
  'udp.dst == 0x35',
  '!ip.is_frag',
  '!(ip4.src == 10.0.0.1)',
  '!(tcp.dst == 80) && tcp',
  'ip4.src != 10.0.0.1',
  'icmp4.type == {3, 11}',
  'is_chassis_resident("lrp")',
  'ip4.dst == 0/0xff',
  'ip6.dst == ::ffff:192.0.2.128',
  'ip6.dst == ::',
  'tcp.src == 80 \n && ip4',
  `${'('.repeat(90)}ip${')'.repeat(90)}`,
])('%j is one', (text) => {
  expect(cureOf(text)).toBeUndefined()
})

it.each([
  ['', 'a constant in place of the end'],
  ['ip4.src = 10.0.0.1', 'remove "= "'],
  ['ip4.src == ', 'a constant in place of the end'],
  ['ip4.src == 10.0.0.256', 'an IP or MAC address, in place of 10.0.0.256'],
  ['ip4.src == 10.0.0.0/33', 'a prefix length: 10.0.0.0/33'],
  ['ip4.src == fd00::1', 'ip4.src, which has 32 bits, with another constant than fd00::1'],
  ['tcp.dst == 65536', '16 bits'],
  ['tcp.dst == 080', 'in place of 080'],
  ['tcp.port == 80', 'field in place of tcp.port'],
  ['tcp.dst', 'tcp.dst != 0'],
  ['inport', '== or !='],
  ['inport == 1', 'a name in quotes'],
  ['ip4.src == "10.0.0.1"', 'compare ip4.src with a number'],
  ['inport != "a"', 'not which it is not'],
  ['!ip4', 'not which it is not'],
  ['ip4 == 0', 'not which it is not'],
  ['!(ip.proto == 6)', 'not which it is not'],
  ['ip.proto > 6', '== or !='],
  ['ip.proto[0] == 1', 'not some of its bits'],
  ['tcp.dst > {1, 2}', '== or !='],
  ['tcp.dst > $set', '== or !='],
  ['tcp.dst[16] == 1', 'from 0 to 15'],
  ['tcp.dst[3..1] == 1', 'the lower one first'],
  ['1 == tcp.dst == 2', '1 <= tcp.dst <= 5'],
  ['1 < tcp.dst > 2', '1 <= tcp.dst <= 5'],
  ['ip4 && tcp || udp', 'parentheses around && '],
  ['!ip4.src == 10.0.0.1', 'behind !'],
  ['(ip4', ') in place of the end'],
  ['ip4) || (1', 'the end, && or || in place of )'],
  ['ip4 // the rest of the flow', 'remove "//"'],
  ['ip4 /* x */', 'remove "/*"'],
  ['ip4; drop', 'remove "; "'],
  ['ip4 & ip6', 'remove "& "'],
  ['^template', 'remove "^t"'],
  ['ip4 \u0000', 'remove'],
  ['$', 'a name after $'],
  ['ip4.src == $1set', 'a name after $'],
  ['inport == "open', 'close the string'],
  ['inport == "\\q"', 'as in JSON'],
  ['ip4.src == {10.0.0.1, "a"}', 'numbers alone'],
  ['ip4.src == {10.0.0.1', 'a constant in place of the end'],
  ['ip4.src == {}', 'a constant in place of }'],
  ['2', 'comparison'],
  ['next(5)', 'remove next()'],
  [`${'('.repeat(91)}ip${')'.repeat(91)}`, 'at most 90'],
  ['tcp.dst == 99999999999999999999', 'below 2^64'],
  ['ip4.src == 10.0.0.1/0xff', 'the same form'],
])('%j is none, and the cure is told', (text, cure) => {
  expect(cureOf(text)).toContain(cure)
})

it('reads a long text in time that grows with its length', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `10.${index >> 8}.${index & 255}.1`)
  expect(cureOf(`ip4.src == {${many.join(', ')}}`)).toBeUndefined()
  expect(cureOf('('.repeat(1_000_000))).toContain('at most 90')
  expect(cureOf('1'.repeat(100_000))).toContain('below 2^64')
})
