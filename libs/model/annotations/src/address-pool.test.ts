import { formatIpList } from '@kube-ovn/ip'
import { expect, it } from 'vitest'
import { AnnotationInvalidError } from './errors.ts'
import { podAnnotations } from './pod.ts'

const { ipPool } = podAnnotations()

it.each([
  ['one address', '10.16.0.5', ['10.16.0.5']],
  ['a list', '10.16.0.5, 10.16.0.6,10.16.0.9', ['10.16.0.5', '10.16.0.6', '10.16.0.9']],
  ['two of one family', 'fd00::5,fd00::6', ['fd00::5', 'fd00::6']],
  ['two of different families, which are one entry', '10.16.0.5,fd00::5', ['10.16.0.5,fd00::5']],
  ['the same the other way round', 'fd00::5,10.16.0.5', ['10.16.0.5,fd00::5']],
  [
    'entries of both families',
    '10.16.0.5,fd00::5;10.16.0.6,fd00::6',
    ['10.16.0.5,fd00::5', '10.16.0.6,fd00::6'],
  ],
  ['entries of one family', '10.16.0.5;10.16.0.7;', ['10.16.0.5', '10.16.0.7']],
  ['a range', '10.16.0.5..10.16.0.7,10.16.0.9', ['10.16.0.5', '10.16.0.6', '10.16.0.7', '10.16.0.9']],
  ['an IPv6 range', 'fd00::fe..fd00::100', ['fd00::fe', 'fd00::ff', 'fd00::100']],
  [
    'ranges of both families',
    '10.16.0.5..10.16.0.6,fd00::5..fd00::6',
    ['10.16.0.5,fd00::5', '10.16.0.6,fd00::6'],
  ],
])('reads %s', (_name, text, want) => {
  const pool = ipPool.parse(text)
  expect(pool.kind === 'list' ? [...pool.entries].map((entry) => formatIpList(entry)) : pool.name).toEqual(
    want,
  )
})

it('takes a single word that is no address for the name of an IPPool', () => {
  expect(ipPool.parse('web-pool')).toEqual({ kind: 'named', name: 'web-pool' })
  expect(ipPool.format({ kind: 'named', name: 'web-pool' })).toBe('web-pool')
})

it.each([
  ['a name in a list', '10.16.0.5,web', 'write an address'],
  ['a prefix', '10.16.0.0/24', '10.16.0.0..10.16.0.255'],
  [
    'three addresses in an entry',
    '10.16.0.5,fd00::5,fd00::6;10.16.0.6',
    'at most one address of each family',
  ],
  ['one family twice in an entry', '10.16.0.5,10.16.0.6;10.16.0.7', 'one address of each family'],
  ['ranges that do not fit', '10.16.0.5..10.16.0.6,fd00::5', 'ranges of the same length'],
  ['a range that is the wrong way round', '10.16.0.9..10.16.0.5,10.16.0.1', 'lower address first'],
  ['a range without end', 'fd00::1..fd00::ffff:ffff', 'at most 4096 addresses'],
  [
    'more than it can have in all',
    Array(600).fill('10.16.0.0..10.16.0.255').join(),
    'at most 4096 addresses',
  ],
  [
    'more than it can have one by one',
    Array.from({ length: 1025 }, (_, index) => `fd00::${index}`).join(';'),
    'write neighbours as ranges, 1024 at most',
  ],
  ['nothing but separators', ' ; ', 'list addresses'],
])('refuses %s, and says what would be right', (_name, text, cure) => {
  const parse = () => ipPool.parse(text)
  expect(parse).toThrow(AnnotationInvalidError)
  try {
    parse()
  } catch (error) {
    expect((error as AnnotationInvalidError).details).toMatchObject({
      field: 'ovn.kubernetes.io/ip_pool',
      cure: expect.stringContaining(cure) as string,
    })
  }
})

it('prints a list so that it is read as the same again', () => {
  const range = '10.16.0.5..10.16.0.9,fd00::5..fd00::9;10.16.0.20'
  for (const text of ['10.16.0.5,fd00::5;10.16.0.6,fd00::6', '10.16.0.5;10.16.0.6', range]) {
    expect(ipPool.format(ipPool.parse(text))).toBe(text)
  }
})
