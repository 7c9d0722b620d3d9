import { expect, it } from 'vitest'
import { decidePools, type PoolClaim } from './pool-claims.ts'

interface Given extends Partial<Omit<PoolClaim, 'age' | 'wanted' | 'decided'>> {
  readonly age?: number
  readonly wants: string
  readonly decided?: string
  readonly subnet?: string
}

function claim(name: string, { age = 0, wants, decided, subnet = 'blue', ...rest }: Given): PoolClaim {
  return {
    age: `${age} ${name}`,
    wanted: { subnet, ips: wants.split(',') },
    decided: decided === undefined ? undefined : { subnet, ips: decided.split(',') },
    problem: undefined,
    isReady: false,
    former: undefined,
    ...rest,
  }
}

/** For each: the addresses that are in effect, and whose addresses it wants, or what else is wrong. */
function decide(given: Readonly<Record<string, Given>>): Readonly<Record<string, readonly unknown[]>> {
  const claims = Object.entries(given).map(([name, one]) => [name, claim(name, one)] as const)
  const states = decidePools(new Map(claims), (subnet) => subnet === 'blue')
  return Object.fromEntries(
    [...states].map(([name, { inEffect, problem }]) => {
      const sibling = Object.entries(problem?.details ?? {}).find(([field]) => field === 'sibling')
      return [name, [inEffect?.ips.join(), sibling?.[1] ?? problem?.code]]
    }),
  )
}

const [low, high] = ['10.1.0.10..10.1.0.19', '10.1.0.20..10.1.0.29']

it.each<readonly [string, Readonly<Record<string, Given>>, Readonly<Record<string, readonly unknown[]>>]>([
  ['is in effect as it is written', { a: { wants: low } }, { a: [low, undefined] }],
  [
    'has no addresses of a subnet that is not there',
    { a: { wants: low, subnet: 'red' } },
    { a: [undefined, 'ipam-no-subnet'] },
  ],
  [
    'keeps what it has when it is given addresses of another one',
    { a: { wants: high, decided: low, age: 1 }, b: { wants: high, decided: high, age: 2 } },
    { a: [low, 'b'], b: [high, undefined] },
  ],
  [
    'takes what another one gives away, if that is older and so comes first',
    { a: { wants: '10.1.0.30', decided: low, age: 1 }, b: { wants: low, decided: high, age: 2 } },
    { a: ['10.1.0.30', undefined], b: [low, undefined] },
  ],
  [
    'is of two new ones the older',
    { a: { wants: low, age: 2 }, b: { wants: low, age: 1 } },
    { a: [undefined, 'b'], b: [low, undefined] },
  ],
  [
    'stays after a restart what its status has, whatever it was edited to take from another one',
    {
      a: { wants: high, age: 1, isReady: true, former: [low] },
      b: { wants: high, age: 2, isReady: true, former: [high] },
    },
    { a: [low, 'b'], b: [high, undefined] },
  ],
])('An IPPool %s', (_what, given, expected) => {
  expect(decide(given)).toEqual(expected)
})
