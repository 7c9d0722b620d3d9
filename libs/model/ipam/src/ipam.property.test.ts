import { formatIp, type Family, type Ip } from '@kube-ovn/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { counterexample } from './testing/counterexample.ts'
import { restoreRecords, type AddressRecord } from './index.ts'
import { diceOf, families, specOf, stepOf, type Step } from './testing/story.ts'
import { compare, forkTwin, start, take, type Twin } from './testing/twin.ts'

/**
 * Each number is a step and the fork to which it happens. The first one is the subnet at the beginning.
 *
 * Zero stands for nothing, so that a story that fails is shortened to zeros and the few steps that matter.
 */
function stories(length: number): fc.Arbitrary<readonly number[]> {
  const step = fc.integer({ min: 0, max: 0xffff_ffff })
  return fc.array(step, { minLength: length, maxLength: length, size: 'max' })
}

const mostForks = 4

/** Takes all steps that are allowed, and compares everything now and then. */
function playOut(
  [first = 0, ...numbers]: readonly number[],
  comparedEvery: number,
  isAllowed: (step: Step) => boolean = () => true,
): readonly Twin[] {
  const twins: Twin[] = [start(specOf(diceOf(first)))]
  for (const [index, number] of numbers.entries()) {
    const dice = diceOf(number)
    const twin = twins[dice(twins.length)]
    const step = stepOf(dice)
    if (twin === undefined || number === 0 || !isAllowed(step)) continue
    if (step.do !== 'fork') take(twin, step)
    else if (twins.length < mostForks) twins.push(forkTwin(twin))
    if (index % comparedEvery === comparedEvery - 1) compare(twin)
  }
  return twins
}

describe('Ipam against the naive rules', { timeout: 300_000 }, () => {
  it('answers alike, whatever happens, and forks stay independent', () => {
    const property = fc.property(stories(60), (told) => {
      for (const twin of playOut(told, 1)) compare(twin)
    })
    expect(counterexample('each step compared', property, { numRuns: 50 })).toBeUndefined()
  })

  it('answers alike in 750,000 steps', () => {
    const property = fc.property(stories(1500), (told) => {
      for (const twin of playOut(told, 250)) compare(twin)
    })
    expect(counterexample('long stories', property, { numRuns: 500 })).toBeUndefined()
  })

  it('hands out in the same order until nothing is left', () => {
    const property = fc.property(stories(60), (told) => {
      for (const twin of playOut(told, 60)) {
        for (const pool of [undefined, 'p', 'q']) for (const family of families) drain(twin, pool, family)
        compare(twin)
      }
    })
    expect(counterexample('order', property, { numRuns: 60 })).toBeUndefined()
  })

  it('comes back from its leases, in any order', () => {
    const property = fc.property(stories(60), fc.infiniteStream(fc.nat()), (told, shuffle) => {
      for (const { ipam, state } of playOut(told, 60, (step) => step.do !== 'set-subnet')) {
        const again = start(specOf(diceOf(told[0] ?? 0))).ipam
        for (const [pool, members] of state.subnets.get('s')?.pools ?? []) {
          again.setPool('s', pool, [...members].map(formatIp))
        }
        if (!state.subnets.has('s')) again.removeSubnet('s')
        const order = new Map([...ipam.leases()].map(({ nic }) => [nic, shuffle.next().value]))
        const leases = [...ipam.leases()].sort((a, b) => (order.get(a.nic) ?? 0) - (order.get(b.nic) ?? 0))
        const records = leases.map(({ v4, v6, mac, ...lease }): AddressRecord => {
          return { ...lease, addresses: { v4, v6 }, mac: mac ?? false }
        })
        // The one that shares an address may come first, and then the other is refused.
        const shared = records.map((record) => ({ ...record, isShared: true }))
        restoreRecords(again, shared)
        const restored = new Map(
          [...state.leases].map(([nic, lease]) => [nic, { ...lease, isShared: true as const }]),
        )
        compare({ ipam: again, state: { ...state, leases: restored } })
      }
    })
    expect(counterexample('restart', property, { numRuns: 60 })).toBeUndefined()
  })
})

/** Uses up a pool, gives a part back, and takes turns with it. */
function drain(twin: Twin, pool: string | undefined, family: Family): void {
  const rest = {
    subnet: 's',
    pool,
    static: [],
    family,
    mac: false as const,
    uid: undefined,
    skip: new Set<Ip>(),
    share: false,
  }
  const draw = (nic: string) => {
    take(twin, { do: 'allocate', request: { ...rest, nic, owner: `pod/${nic}` }, macText: false })
  }
  const giveBack = (nic: string) => {
    take(twin, { do: 'release', nic, owner: `pod/${nic}`, uid: undefined })
  }
  const name = (count: number) => `drain-${pool}-${family}-${count}`
  for (let count = 0; count < 20; count++) draw(name(count))
  for (let count = 0; count < 20; count += 3) giveBack(name(count))
  for (let turn = 0; turn < 8; turn++) {
    draw('turn')
    giveBack('turn')
  }
}
