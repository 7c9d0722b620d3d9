import { expect, it } from 'vitest'
import { HeardPrefixes } from './heard-prefixes.ts'
import { updateOf, type UpdateMessage } from './update-message.ts'

const both = ['ipv4', 'ipv6'] as const
const path = { origin: 'igp', asPath: [] } as const
const ipv4 = (...announced: readonly string[]): UpdateMessage => updateOf({ path, announced })
const ipv6 = (...prefixes: readonly string[]): UpdateMessage =>
  updateOf({ path, reachable: { family: 'ipv6', nextHop: '2001:db8::9', prefixes } })

it('counts each prefix once, and those that are withdrawn no more', () => {
  const heard = new HeardPrefixes()
  heard.take(ipv4('10.0.0.0/8', '10.1.0.0/16'), both)
  heard.take(ipv4('10.0.0.0/8'), both)
  heard.take(ipv6('2001:db8::/32'), both)
  expect(heard.counts).toEqual({ ipv4: 2, ipv6: 1, isBeyondBound: false })
  heard.take(updateOf({ withdrawn: ['10.0.0.0/8', '192.0.2.0/24'] }), both)
  heard.take(updateOf({ unreachable: { family: 'ipv6', prefixes: ['2001:db8::/32'] } }), both)
  expect(heard.counts).toEqual({ ipv4: 1, ipv6: 0, isBeyondBound: false })
  heard.clear()
  expect(heard.counts).toEqual({ ipv4: 0, ipv6: 0, isBeyondBound: false })
})

it.each([
  { why: 'malformed attributes', update: { ...ipv4('10.0.0.0/8'), malformed: [3] } },
  { why: 'no path', update: updateOf({ announced: ['10.0.0.0/8'] }) },
])('takes routes with $why for withdrawn', ({ update }) => {
  const heard = new HeardPrefixes()
  heard.take(ipv4('10.0.0.0/8'), both)
  heard.take(update, both)
  expect(heard.counts.ipv4).toBe(0)
})

it('counts nothing of a family that was not agreed on', () => {
  const heard = new HeardPrefixes()
  heard.take(ipv6('2001:db8::/32'), ['ipv4'])
  expect(heard.counts.ipv6).toBe(0)
})

it('keeps no more than its bound in mind, of both families together, and says so until the session is over', () => {
  const heard = new HeardPrefixes(2)
  heard.take(ipv4('10.0.0.0/8'), both)
  heard.take(ipv6('2001:db8::/32'), both)
  heard.take(ipv4('10.0.0.0/8'), both)
  expect(heard.counts).toEqual({ ipv4: 1, ipv6: 1, isBeyondBound: false })
  heard.take(ipv4('10.1.0.0/16'), both)
  heard.take(updateOf({ withdrawn: ['10.1.0.0/16'] }), both)
  expect(heard.counts).toEqual({ ipv4: 1, ipv6: 1, isBeyondBound: true })
  heard.clear()
  expect(heard.counts.isBeyondBound).toBe(false)
})
