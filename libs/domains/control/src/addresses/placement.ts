import { KubeOvnError } from '@kube-ovn/errors'
import type { AddressList, Ip } from '@kube-ovn/ip'
import {
  AddressConflictError,
  chooseFromList,
  MacConflictError,
  NicConflictError,
  NoAvailableAddressError,
  type AllocateRequest,
  type IpamView,
  type Owner,
  type Planned,
} from '@kube-ovn/ipam'
import { anyOpening, placeOfMac } from './waiters.ts'

/** What a NIC is to have addresses for, and where it may get them. */
export interface AddressClaim {
  readonly nic: string
  readonly owner: Owner
  /** Of the object that is the owner at present, see {@link AllocateRequest.uid}. */
  readonly uid?: string | undefined
  /** Tried one after the other, until one can be had. */
  readonly choices: Iterable<Choice>
  /** Places in which an address can be drawn come first: the others are tried only if there is no such place, and then the first of them alone. */
  readonly prefersRoom?: true
  /**
   * Which refusal is told when nothing can be had: that of the last choice, or the first that says more than "not an address of
   * this subnet".
   */
  readonly tells: 'last' | 'most'
  /** No record that is new says that addresses were taken, so that counts have to be told. */
  readonly isUnrecorded?: true
}

/** A place to ask in, or why that can not be asked. */
export type Choice = Ask | Refusal

export interface Ask extends Omit<AllocateRequest, 'nic' | 'owner' | 'uid'> {
  /** The first of these that can be had, instead of what is asked for otherwise. */
  readonly entries?: AddressList
  /** Draws nothing that {@link PlacementView.isSeen somebody else} has. Addresses that are asked for are given all the same, as upstream does. */
  readonly drawsUnseen?: true
}

interface Refusal {
  readonly refusal: KubeOvnError
  /** It says less than that an address is not one of another subnet. */
  readonly isPlace?: true
}

/** What a claim is placed over; placing changes nothing of it. */
export interface PlacementView {
  readonly ipam: IpamView
  /** Whether somebody has an address who did not get it from here: a node, or a port that is not ours. */
  isSeen(subnet: string, ip: Ip): boolean
}

/** What to ask IPAM for, and its answer, or why there is nothing to be had. */
export type Placed = Planned | Unplaced

export interface Unplaced {
  readonly problem: KubeOvnError
  /** Where to wait: each choice lacks something that comes free, or opens, at one of them. */
  readonly places: ReadonlySet<string>
}

/**
 * Finds what a NIC is to have. Nothing is taken, and asking again gives the same but for a MAC address that is made up.
 *
 * What the NIC has already is kept as long as it meets a choice.
 */
export function placeClaim(claim: AddressClaim, view: PlacementView): Placed {
  let problem: KubeOvnError | undefined
  const { asked, passedOver } = inOrder(claim, view)
  const places = new Set<string>(passedOver)
  for (const choice of asked) {
    const placed = 'refusal' in choice ? { problem: choice.refusal } : ask(choice, claim, view)
    if (!('problem' in placed)) return placed
    places.add(placeOf(choice, placed.problem))
    if (placed.problem instanceof MacConflictError) places.add(anyOpening)
    const isPlace = 'refusal' in choice && choice.isPlace === true
    const isTold =
      problem === undefined ||
      claim.tells === 'last' ||
      (!isPlace && problem.code === 'ipam-address-out-of-range')
    if (isTold) problem = placed.problem
  }
  if (problem === undefined) throw new RangeError(`a claim needs a choice: ${claim.nic}`)
  return { problem, places }
}

/** Where something may come free that a choice lacks. What no address can help waits for a subnet that opens. */
function placeOf(choice: Choice, problem: KubeOvnError): string {
  // A MAC address comes free without any address that others would leave, and addresses there are: they are looked for first.
  if (problem instanceof MacConflictError) return placeOfMac(problem.details)
  if ('refusal' in choice) return anyOpening
  // Of a list of addresses, what is told is about one.
  return choice.entries !== undefined || mayComeFree(problem) ? choice.subnet : anyOpening
}

function mayComeFree(problem: KubeOvnError): boolean {
  return (
    problem instanceof NoAvailableAddressError ||
    problem instanceof NicConflictError ||
    (problem instanceof AddressConflictError && problem.details.conflict !== 'gateway')
  )
}

/** The choices to ask for, and the subnets of those that are not asked as they have no room. */
function inOrder(
  { choices, prefersRoom }: AddressClaim,
  { ipam }: PlacementView,
): { readonly asked: Iterable<Choice>; readonly passedOver: readonly string[] } {
  if (prefersRoom !== true) return { asked: choices, passedOver: [] }
  const all = [...choices]
  const roomy = all.filter(
    (choice) => 'refusal' in choice || ipam.hasRoom(choice.subnet, choice.pool, choice.family),
  )
  const asked = roomy.length > 0 ? roomy : all.slice(0, 1)
  const others = all.filter((choice) => !asked.includes(choice))
  return { asked, passedOver: others.flatMap((choice) => ('refusal' in choice ? [] : [choice.subnet])) }
}

function ask(
  { entries, drawsUnseen, ...asked }: Ask,
  { nic, owner, uid }: AddressClaim,
  view: PlacementView,
): Planned | Pick<Unplaced, 'problem'> {
  const request = { ...asked, nic, owner, uid }
  try {
    if (entries !== undefined) return chooseFromList(view.ipam, request, entries)
    return drawsUnseen === true ? planUnseen(request, view) : { request, lease: view.ipam.plan(request) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { problem: error }
  }
}

function isRefusal(error: unknown): error is KubeOvnError {
  return error instanceof KubeOvnError
}

function planUnseen(request: AllocateRequest, { ipam, isSeen }: PlacementView): Planned {
  const { subnet, static: fixed, skip } = request
  const lease = ipam.plan(request)
  const isDrawn = (ip: Ip | undefined): ip is Ip => ip !== undefined && ip !== fixed?.v4 && ip !== fixed?.v6
  if (![lease.v4, lease.v6].some((ip) => isDrawn(ip) && isSeen(subnet, ip))) return { request, lease }
  const has = (ip: Ip): boolean => skip?.has(ip) === true || (isDrawn(ip) && isSeen(subnet, ip))
  const elsewhere = { ...request, skip: { has, size: Infinity } }
  return { request: elsewhere, lease: ipam.plan(elsewhere) }
}
