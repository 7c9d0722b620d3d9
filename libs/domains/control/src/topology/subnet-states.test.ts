import { describe, expect, it } from 'vitest'
import { controlSettings } from '../testing/settings.ts'
import type { Acceptance } from './acceptance.ts'
import { noNodes, sortNodeAddresses, type NodesByAddress } from './node-addresses.ts'
import type { Network } from './network.ts'
import type { SubnetClaim } from './subnet-claims.ts'
import { decideSubnets } from './subnet-states.ts'
import { resolveSubnet } from './subnet-spec.ts'

interface Given {
  /** Older ones are lower. */
  readonly age?: number
  readonly wants: string
  readonly decided?: Partial<Record<keyof Acceptance, string>>
  /** Prefixes, and whether each was in effect when the last process ended. */
  readonly may?: readonly (readonly [cidrBlock: string, rank: number, wasInEffect: boolean])[]
}

const settings = controlSettings()

function meaning(name: string, cidrBlock: string): Network {
  return resolveSubnet(name, { cidrBlock }, settings).network
}

function claim(name: string, { age = 0, wants, decided, may = [] }: Given): SubnetClaim {
  const means = (cidr: string | undefined): Network | undefined =>
    cidr === undefined ? cidr : meaning(name, cidr)
  return {
    name,
    age: `${age} ${name}`,
    wanted: resolveSubnet(name, { cidrBlock: wants }, settings),
    problem: undefined,
    decided: decided && {
      uid: name,
      inEffect: means(decided.inEffect),
      accepted: means(decided.accepted),
      declined: means(decided.declined),
    },
    candidates: may.map(([cidr, rank, wasInEffect]) => ({
      rank: `${rank} ${age} ${name}`,
      network: meaning(name, cidr),
      wasInEffect,
    })),
  }
}

/** For each: what is in effect, and why what it wants is refused. */
function decide(
  given: Readonly<Record<string, Given>>,
  nodes: NodesByAddress = noNodes,
): Readonly<Record<string, readonly [inEffect: string | undefined, conflictsWith: unknown]>> {
  const claims = Object.entries(given).map(([name, one]) => claim(name, one))
  const states = decideSubnets(claims, nodes)
  // The order in which they come makes no difference.
  expect(new Map([...decideSubnets(claims.toReversed(), nodes)].sort())).toEqual(new Map([...states].sort()))
  return Object.fromEntries(
    [...states].map(([name, { acceptance, problem }]) => [
      name,
      [
        acceptance.inEffect?.cidrBlock,
        problem && Object.entries(problem.details).find(([field]) => field === 'conflictsWith')?.[1],
      ],
    ]),
  )
}

const a = '10.1.0.0/16'
const b = '10.2.0.0/16'

describe('What is in effect of subnets', () => {
  it('is what was decided, whatever the specification became', () => {
    expect(decide({ blue: { wants: b, decided: { inEffect: a } } })).toEqual({ blue: [a, undefined] })
  })

  it('is kept from others, as is what was accepted, however young it is', () => {
    expect(
      decide({
        old: { age: 1, wants: b, decided: { inEffect: a } },
        new: { age: 2, wants: b, decided: { accepted: b, inEffect: '10.3.0.0/16' } },
        last: { age: 3, wants: '10.1.9.0/24' },
      }),
    ).toEqual({
      old: [a, 'Subnet/new'],
      new: ['10.3.0.0/16', undefined],
      last: [undefined, 'Subnet/old'],
    })
  })

  it('is of two that want the same at once given to the older one', () => {
    const given = {
      young: { age: 2, wants: b, decided: { inEffect: a } },
      old: { age: 1, wants: b, decided: {} },
    }
    expect(decide(given)).toEqual({ old: [undefined, undefined], young: [a, 'Subnet/old'] })
  })

  it('is open to others when the older one can not have it for another reason', () => {
    const old = { age: 1, wants: b, decided: { inEffect: '10.3.0.0/16', declined: b } }
    expect(decide({ young: { age: 2, wants: b, decided: { inEffect: a } }, old })).toEqual({
      old: ['10.3.0.0/16', undefined],
      young: [a, undefined],
    })
  })

  it('is after a restart what was in effect before it, in spite of edits', () => {
    expect(
      decide({
        edited: {
          age: 1,
          wants: b,
          may: [
            [a, 1, true],
            [b, 2, false],
          ],
        },
        other: { age: 2, wants: b, may: [[b, 0, true]] },
      }),
    ).toEqual({ edited: [a, 'Subnet/other'], other: [b, undefined] })
  })

  it('is of two that nothing was decided about that of the one which was valid, or else older', () => {
    expect(
      decide({
        invalid: { age: 1, wants: a, may: [[a, 3, false]] },
        valid: { age: 2, wants: a, may: [[a, 2, false]] },
        late: { age: 4, wants: b, may: [[b, 2, false]] },
        early: { age: 3, wants: b, may: [[b, 2, false]] },
      }),
    ).toEqual({
      invalid: [undefined, 'Subnet/valid'],
      valid: [a, undefined],
      late: [undefined, 'Subnet/early'],
      early: [b, undefined],
    })
  })

  it('stays when a node comes to have an address in it, and is not begun on one', () => {
    const nodes = sortNodeAddresses([
      { node: 'n1', address: '10.1.0.9' },
      { node: 'n2', address: '10.2.0.9' },
    ])
    expect(
      decide({ was: { wants: a, may: [[a, 0, true]] }, is: { wants: b, may: [[b, 3, false]] } }, nodes),
    ).toEqual({ was: [a, 'Node/n1'], is: [undefined, 'Node/n2'] })
    const state = decideSubnets([claim('was', { wants: a, may: [[a, 0, true]] })], nodes).get('was')
    expect(state?.nodesInside).toEqual([{ node: 'n1', address: '10.1.0.9' }])
  })
})

it('What costs a decision is in proportion to the number of subnets, but for its logarithm', () => {
  const claims = (count: number): readonly SubnetClaim[] =>
    Array.from({ length: count }, (_, n) =>
      claim(`s${n}`, {
        wants: `10.${n >> 8}.${n & 255}.0/24`,
        decided: { inEffect: `10.${n >> 8}.${n & 255}.0/24` },
      }),
    )
  const reads = (count: number): number => {
    const given = countingReads(claims(count))
    decideSubnets(given.value, noNodes)
    return given.reads()
  }
  expect(reads(4000) / reads(250)).toBeLessThan(16 * 2)
})

/** What is given, and how often something was read from any part of it. */
function countingReads<T extends object>(given: T): { readonly value: T; reads(): number } {
  let reads = 0
  const counting = new WeakMap<object, object>()
  const handler: ProxyHandler<object> = {
    get(target, property, receiver) {
      reads++
      const value: unknown = Reflect.get(target, property, receiver)
      return typeof value === 'object' && value !== null ? wrapped(value) : value
    },
  }
  function wrapped<V extends object>(value: V): V {
    return counting.getOrInsertComputed(value, () => new Proxy<object>(value, handler)) as V
  }
  return { value: wrapped(given), reads: () => reads }
}
