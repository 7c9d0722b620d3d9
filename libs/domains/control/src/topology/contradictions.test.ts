import { extentOf, meet } from '@kube-ovn/ovn-match'
import { expect, it } from 'vitest'
import type { SubnetRule } from '@kube-ovn/policy'
import { findContradictions, mostPairs } from './contradictions.ts'

const drop: SubnetRule = {
  direction: 'to-lport',
  priority: 1002,
  match: 'ip4.src == 10.0.0.0/8',
  action: 'drop',
}
const allow: SubnetRule = { ...drop, match: 'tcp.dst == 22', action: 'allow-related' }

function told(rules: readonly SubnetRule[]): readonly string[] {
  return findContradictions(rules).map(({ rule, other }) => `${rules.indexOf(rule)} ${rules.indexOf(other)}`)
}

it.each<[what: string, rules: readonly SubnetRule[], contradictions: readonly string[]]>([
  ['two that decide otherwise of one packet', [drop, allow], ['1 0']],
  [
    'reject and stateless ones',
    [
      { ...drop, action: 'reject' },
      { ...allow, action: 'allow-stateless' },
    ],
    ['1 0'],
  ],
  [
    'each once, with the first one before it',
    [drop, { ...drop, match: 'ip' }, allow, { ...allow, match: 'tcp' }],
    ['2 0', '3 0'],
  ],
  ['one that stops behind others', [allow, { ...allow, match: 'udp' }, drop], ['2 0']],
  ['none of other packets', [drop, { ...allow, match: 'ip6' }], []],
  ['none of another priority', [drop, { ...allow, priority: 1003 }], []],
  ['none of another direction', [drop, { ...allow, direction: 'from-lport' }], []],
  [
    'none that decide the same',
    [allow, { ...allow, match: 'ip4', action: 'allow' }, { ...drop, priority: 1 }],
    [],
  ],
  ['none whose matches are not read', [drop, { ...allow, match: 'ip4.src == $set' }], []],
])('finds %s', (_what, rules, contradictions) => {
  expect(told(rules)).toEqual(contradictions)
})

const ofOnePriority = (isStop: (index: number) => boolean): readonly SubnetRule[] =>
  Array.from({ length: 5000 }, (_, index) => ({
    ...{ ...drop, match: `ip4.src == 10.1.${index >> 8}.${index & 255}` },
    action: isStop(index) ? 'drop' : 'allow',
  }))

it.each<[what: string, isStop: (index: number) => boolean, mostRead: number, compared: number]>([
  ['nothing of them where all decide the same', () => true, 0, 0],
  ['each once where one decides otherwise', (index) => index === 0, mostPairs + 1, mostPairs],
  ['few where half of them do', (index) => index % 2 === 0, 200, mostPairs],
])('reads and compares of 5,000 of one priority %s', (_what, isStop, mostRead, compared) => {
  const counted = { read: 0, compared: 0 }
  const found = findContradictions(ofOnePriority(isStop), {
    extentOf: (match) => {
      counted.read += 1
      return extentOf(match)
    },
    meet: (one, other) => {
      counted.compared += 1
      return meet(one, other)
    },
  })
  expect(found).toEqual([])
  expect(counted.compared).toBe(compared)
  expect(counted.read).toBeLessThanOrEqual(mostRead)
})
