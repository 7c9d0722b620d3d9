import { AddressList, formatIp, formatIpList, parseCidrList, parseIp, parseIpList } from '@kube-ovn/ip'
import { Ipam, type Owner } from '@kube-ovn/ipam'
import { expect, it } from 'vitest'
import { placeClaim, type AddressClaim, type Ask, type Choice } from './placement.ts'
import { anyOpening } from './waiters.ts'
import { PodSubnetUnavailableError } from '../pods/port-errors.ts'

type Held = readonly [nic: string, ask: Ask, owner?: Owner]

/** Two subnets: one of both families with the pool `web`, and a small one of IPv4 alone, in which `.3` is excluded. */
function ipamOf(held: readonly Held[]): Ipam {
  const ipam = new Ipam((count) => new Uint8Array(count).map((_, index) => index * 7))
  const subnet = (name: string, cidr: string, gateway: string, excludeIps: readonly string[]): void => {
    ipam.setSubnet({ name, cidrs: parseCidrList(cidr), gateways: parseIpList(gateway), excludeIps })
  }
  subnet('dual', '10.0.0.0/24,fd00::/120', '10.0.0.1,fd00::1', [])
  subnet('small', '10.1.0.0/29', '10.1.0.1', ['10.1.0.3'])
  ipam.setPool('dual', 'web', ['10.0.0.50..10.0.0.51', 'fd00::50..fd00::51'])
  ipam.setPool('small', 'tiny', ['10.1.0.6'])
  for (const [nic, ask, owner] of held) ipam.allocate({ ...ask, nic, owner: owner ?? `pod/shop/${nic}` })
  return ipam
}

const at = (text: string): Ask['static'] => parseIpList(text)
const listOf = (...texts: readonly string[]): AddressList =>
  new AddressList(texts.map((text) => ({ first: parseIpList(text), count: 1 })))
const unavailable: Choice = {
  refusal: new PodSubnetUnavailableError({ subnet: 'gone', cure: 'create it' }),
  isPlace: true,
}
const small: Ask = { subnet: 'small' }
const dual: Ask = { subnet: 'dual' }
/** All that can be drawn of the small one, but the pool. */
const full: readonly Held[] = ['a', 'b', 'c'].map((nic) => [nic, small])
const drawn = { ...small, drawsUnseen: true } as const

interface Case {
  readonly choices: readonly Choice[]
  readonly held?: readonly Held[]
  readonly claim?: Partial<AddressClaim>
  readonly seen?: readonly string[]
  /** The addresses, or the code of the problem. */
  readonly placed: string
}

const cases: Readonly<Record<string, Case>> = {
  'the lowest free address': { choices: [small], placed: '10.1.0.2' },
  'none that is excluded': { choices: [small], held: [['a', small]], placed: '10.1.0.4' },
  'one that is excluded, if it is asked for': {
    choices: [{ ...small, static: at('10.1.0.3') }],
    placed: '10.1.0.3',
  },
  'one of each family': { choices: [dual], placed: '10.0.0.2,fd00::2' },
  'one of IPv4 alone': { choices: [{ ...dual, family: 4 }], placed: '10.0.0.2' },
  'one of IPv6 alone': { choices: [{ ...dual, family: 6 }], placed: 'fd00::2' },
  'no family that the subnet has not': {
    choices: [{ ...small, family: 6 }],
    placed: 'ipam-invalid-ip-family',
  },
  'what is asked for, and the other family drawn': {
    choices: [{ ...dual, static: at('10.0.0.9') }],
    placed: '10.0.0.9,fd00::2',
  },
  'nothing that somebody else has': {
    choices: [{ ...small, static: at('10.1.0.2') }],
    held: [['a', small]],
    placed: 'ipam-address-conflict',
  },
  'what somebody else has, if it is shared': {
    choices: [{ ...small, static: at('10.1.0.2'), shareOnConflict: true }],
    held: [['a', small]],
    placed: '10.1.0.2',
  },
  'no address of a gateway': {
    choices: [{ ...small, static: at('10.1.0.1') }],
    placed: 'ipam-address-conflict',
  },
  'nothing of a subnet that is exhausted': {
    choices: [small],
    held: full,
    placed: 'ipam-no-available-address',
  },
  'some of the next subnet': { choices: [small, dual], held: full, placed: '10.0.0.2,fd00::2' },
  'some of the next subnet when the first is not in effect': {
    choices: [unavailable, small],
    placed: '10.1.0.2',
  },
  'the address in the subnet that has it': {
    choices: [small, dual].map((ask) => ({ ...ask, static: at('10.0.0.9'), family: 4 })),
    placed: '10.0.0.9',
  },
  'nothing, and it says more than that another subnet does not have the address': {
    choices: [
      { ...small, static: at('10.0.0.9') },
      { ...dual, static: at('10.0.0.9') },
    ],
    held: [['a', { ...dual, static: at('10.0.0.9') }]],
    placed: 'ipam-address-conflict',
  },
  'nothing, and the first refusal is told': {
    choices: [small, { ...dual, static: at('10.1.0.2') }],
    held: full,
    placed: 'ipam-no-available-address',
  },
  'nothing, and the last refusal is told': {
    choices: [small, { ...dual, static: at('10.1.0.2') }],
    held: full,
    claim: { tells: 'last' },
    placed: 'ipam-address-out-of-range',
  },
  'nothing, and a subnet that is not in effect does not hide that the address is of none': {
    choices: [{ ...small, static: at('10.9.0.9') }, unavailable],
    placed: 'ipam-address-out-of-range',
  },
  'some of a pool': { choices: [{ ...dual, pool: 'web' }], placed: '10.0.0.50,fd00::50' },
  'some of the pool that has room': {
    choices: [
      { ...small, pool: 'tiny' },
      { ...dual, pool: 'web' },
    ],
    held: [['a', { ...small, pool: 'tiny' }]],
    claim: { prefersRoom: true, tells: 'last' },
    placed: '10.0.0.50,fd00::50',
  },
  'nothing when no pool has room, and the first one says so': {
    choices: [
      { ...small, pool: 'tiny' },
      { ...small, pool: 'none' },
    ],
    held: [['a', { ...small, pool: 'tiny' }]],
    claim: { prefersRoom: true, tells: 'last' },
    placed: 'ipam-no-available-address',
  },
  'the first entry of a list that is free': {
    choices: [{ ...small, entries: listOf('10.1.0.5', '10.1.0.4') }],
    held: [['a', { ...small, static: at('10.1.0.5') }]],
    placed: '10.1.0.4',
  },
  'the entry of a list that it has': {
    choices: [{ ...small, entries: listOf('10.1.0.5', '10.1.0.4') }],
    held: [['me', { ...small, static: at('10.1.0.4') }]],
    placed: '10.1.0.4',
  },
  'what it has': {
    choices: [small],
    held: [['me', { ...small, static: at('10.1.0.5') }]],
    placed: '10.1.0.5',
  },
  'what a member of a StatefulSet had': {
    choices: [small],
    held: [['me', { ...small, static: at('10.1.0.5') }, 'statefulset-pod/shop/me']],
    claim: { owner: 'statefulset-pod/shop/me' },
    placed: '10.1.0.5',
  },
  'what a machine had, in another subnet than the first': {
    choices: [dual, small],
    held: [['me', { ...dual, static: at('10.0.0.7,fd00::7') }, 'vm/shop/me']],
    claim: { owner: 'vm/shop/me' },
    placed: '10.0.0.7,fd00::7',
  },
  'what a user reserved for it': {
    choices: [small],
    held: [['me', { ...small, static: at('10.1.0.5') }, 'reservation/shop/me']],
    placed: '10.1.0.5',
  },
  'nothing of what is reserved for another pod': {
    choices: [{ ...small, static: at('10.1.0.5') }],
    held: [['db', { ...small, static: at('10.1.0.5') }, 'reservation/shop/db']],
    placed: 'ipam-address-conflict',
  },
  'nothing on a NIC of another owner': {
    choices: [small],
    held: [['me', small, 'vip/me']],
    placed: 'ipam-nic-conflict',
  },
  'another one than it is to give up': {
    choices: [{ ...small, skip: new Set([parseIp('10.1.0.2')]) }],
    held: [['me', small]],
    placed: '10.1.0.4',
  },
  'none that a node has': { choices: [drawn], seen: ['10.1.0.2', '10.1.0.4'], placed: '10.1.0.5' },
  'another one instead of one that a node has by now': {
    choices: [drawn],
    held: [['me', small]],
    seen: ['10.1.0.2'],
    placed: '10.1.0.4',
  },
  'one that a node has, if it is asked for': {
    choices: [{ ...drawn, static: at('10.1.0.2') }],
    seen: ['10.1.0.2'],
    placed: '10.1.0.2',
  },
  'nothing when others have all that is left': {
    choices: [drawn],
    held: [['a', small]],
    seen: ['10.1.0.4', '10.1.0.5'],
    placed: 'ipam-address-conflict',
  },
}

const mac = '02:00:00:00:00:01'
const hasMac: Held = ['a', { ...dual, mac }]

it.each<[name: string, asked: Pick<Case, 'choices' | 'held' | 'claim'>, places: readonly string[]]>([
  [
    'an address of either subnet',
    {
      choices: [small, { ...dual, static: at('10.0.0.9') }],
      held: [...full, ['d', { ...dual, static: at('10.0.0.9') }]],
    },
    ['small', 'dual'],
  ],
  ['an address, or another subnet', { choices: [small, unavailable], held: full }, ['small', anyOpening]],
  [
    'a MAC address where there are addresses',
    { choices: [{ ...dual, mac }], held: [hasMac] },
    [`dual/${mac}`, anyOpening],
  ],
  [
    'an address of the one, or a MAC address in the other',
    {
      choices: [small, { ...dual, mac }],
      held: [...['b', 'c', 'd'].map((nic): Held => [nic, small]), hasMac],
      claim: { tells: 'last' },
    },
    ['small', `dual/${mac}`, anyOpening],
  ],
  [
    'a MAC address, or an address of a pool that has no room',
    {
      choices: [
        { ...small, pool: 'tiny' },
        { ...dual, pool: 'web', mac },
      ],
      held: [['t', { ...small, pool: 'tiny' }], hasMac],
      claim: { prefersRoom: true },
    },
    ['small', `dual/${mac}`, anyOpening],
  ],
  [
    'some address of a list, whatever is told of the last',
    { choices: [{ ...small, entries: listOf('10.1.0.2', '10.9.0.9') }], held: [['a', small]] },
    ['small'],
  ],
  ['a subnet that has the address', { choices: [{ ...small, static: at('10.9.0.9') }] }, [anyOpening]],
])('who is given nothing waits for %s', (_, { choices, held = [], claim }, places) => {
  const whole: AddressClaim = { nic: 'me', owner: 'pod/shop/me', choices, tells: 'most', ...claim }
  const found = placeClaim(whole, { ipam: ipamOf(held), isSeen: () => false })
  expect('places' in found && [...found.places]).toEqual(places)
})

it.each(Object.entries(cases))('a NIC is given %s', (_, { choices, held = [], claim, seen = [], placed }) => {
  const ipam = ipamOf(held)
  const before = [...ipam.leases()]
  const whole: AddressClaim = { nic: 'me', owner: 'pod/shop/me', choices, tells: 'most', ...claim }
  const found = placeClaim(whole, { ipam, isSeen: (_subnet, ip) => seen.includes(formatIp(ip)) })
  expect('problem' in found ? found.problem.code : formatIpList(found.lease)).toBe(placed)
  // Nothing is taken by that, and IPAM answers the same when it is.
  expect([...ipam.leases()]).toEqual(before)
  if ('problem' in found) return
  expect(ipam.allocate({ ...found.request, mac: found.lease.mac })).toEqual(found.lease)
  expect(ipam.verify()).toEqual([])
})
