import { parseMac, type Family, type Ip } from '@kube-ovn/ip'
import * as naive from './naive-ipam.ts'
import type { Owner } from '../owner.ts'

/** What may happen to an allocator. */
export type Step =
  | { readonly do: 'set-subnet'; readonly spec: naive.NaiveSpec }
  | { readonly do: 'remove-subnet' }
  | { readonly do: 'set-pool'; readonly pool: string; readonly members: ReadonlySet<Ip> }
  | { readonly do: 'remove-pool'; readonly pool: string }
  | { readonly do: 'gateway-mac'; readonly mac: string | undefined }
  | {
      readonly do: 'allocate'
      readonly request: naive.NaiveRequest
      readonly macText: string | false | undefined
    }
  | {
      readonly do: 'release'
      readonly nic: string
      readonly owner: Owner
      readonly uid: string | undefined
    }
  | { readonly do: 'release-owner'; readonly owner: Owner; readonly subnet: string | undefined }
  /** Another allocator starts where this one is, and both go on independently. */
  | { readonly do: 'fork' }

export const families = [4, 6] as const
export const owners: readonly Owner[] = ['pod/o0', 'pod/o1', 'vip/o2', 'statefulset-pod/o0', 'vip/o1']
/** Some are called like the owner that has them most of the time, and others have it then, too. */
export const nics = ['o0', 'o1', 'o2', ...Array.from({ length: 9 }, (_, index) => `n${index}`)]
const macs = ['00:00:5e:00:53:01', '00-00-5E-00-53-01', '00:00:5E:00:53:02', '0000.5e00.5303']
const uids = ['u1', 'u2', undefined]
const pools = ['p', 'q']

const sizes: readonly (readonly (readonly [Family, number])[])[] = [
  [[4, 29]],
  [[6, 125]],
  [
    [4, 29],
    [6, 125],
  ],
  [
    [4, 29],
    [6, 124],
  ],
  [
    [4, 28],
    [6, 125],
  ],
  [],
]

/** Gives a number below the bound. */
type Dice = (bound: number) => number

/** Unfolds a number into as many as a step needs, always the same (mulberry32). */
export function diceOf(number: number): Dice {
  let state = number | 0
  return (bound) => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

/** The step that a number stands for: a million of them is told quickly, and a story is shortened by leaving some out. */
export function stepOf(dice: Dice): Step {
  const kind = dice(50)
  if (kind < 30) return allocation(dice)
  if (kind < 38) return release(dice)
  if (kind < 39) return { do: 'release-owner', owner: pick(dice, owners), subnet: subnetName(dice) }
  if (kind < 41) return { do: 'set-subnet', spec: specOf(dice) }
  if (kind < 43) {
    const members = new Set([...span(dice, 4), ...span(dice, 6)])
    return { do: 'set-pool', pool: pick(dice, pools), members }
  }
  if (kind < 44) return { do: 'remove-pool', pool: pick(dice, pools) }
  if (kind < 45) return { do: 'gateway-mac', mac: pick(dice, [...macs, undefined]) }
  if (kind < 46) return { do: 'fork' }
  if (kind < 47) return { do: 'remove-subnet' }
  return allocation(dice)
}

/** A subnet that changes by all that a subnet can change by: size, families and excluded addresses. */
export function specOf(dice: Dice): naive.NaiveSpec {
  const excluded = Array.from({ length: dice(3) }, () => {
    const first = dice(18)
    return { first, last: first + dice(5) }
  })
  return { name: 's', sizes: new Map(pick(dice, sizes)), excluded }
}

function allocation(dice: Dice): Step {
  const number = dice(nics.length)
  const macText = dice(6) < 4 ? undefined : dice(3) === 0 ? false : pick(dice, macs)
  const skip = dice(5) === 0 ? Array.from({ length: dice(12) }, () => address(dice)) : []
  return {
    do: 'allocate',
    macText,
    request: {
      subnet: subnetName(dice) ?? 's',
      nic: `n${number}`,
      // A NIC nearly always belongs to the same owner, and every owner has several.
      owner: dice(15) === 0 ? pick(dice, owners) : usualOwner(number),
      uid: dice(3) === 0 ? pick(dice, uids) : undefined,
      pool: dice(3) === 0 ? pick(dice, pools) : undefined,
      static: fixed(dice),
      family: dice(4) === 0 ? pick(dice, families) : undefined,
      mac: typeof macText === 'string' ? parseMac(macText) : macText,
      skip: new Set(skip),
      share: dice(6) === 0,
    },
  }
}

function fixed(dice: Dice): readonly Ip[] {
  const kind = dice(6)
  if (kind < 3) return []
  return kind < 5 ? [address(dice)] : [naive.at(4, dice(18)), naive.at(6, dice(18))]
}

function release(dice: Dice): Step {
  const number = dice(nics.length)
  const owner = dice(8) === 0 ? pick(dice, owners) : usualOwner(number)
  const uid = dice(2) === 0 ? pick(dice, uids) : undefined
  return { do: 'release', nic: `n${number}`, owner, uid }
}

function usualOwner(nic: number): Owner {
  return owners[nic % 3] ?? 'pod/o0'
}

/** Subnet `s` has addresses, `m` MAC addresses only, `x` does not exist. */
function subnetName(dice: Dice): string | undefined {
  const number = dice(25)
  return number < 20 ? 's' : number < 24 ? 'm' : 'x'
}

function address(dice: Dice): Ip {
  return naive.at(pick(dice, families), dice(18))
}

function span(dice: Dice, family: Family): readonly Ip[] {
  const first = dice(18)
  return Array.from({ length: dice(5) + 1 }, (_, index) => naive.at(family, first + index))
}

function pick<T>(dice: Dice, from: readonly T[]): T {
  return from[dice(from.length)] as T
}
