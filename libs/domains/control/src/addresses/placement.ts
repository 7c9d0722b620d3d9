import { KubeOvnError } from '@kube-ovn/errors'
import type { AddressList, Ip } from '@kube-ovn/ip'
import { chooseFromList, type AllocateRequest, type IpamView, type Owner, type Planned } from '@kube-ovn/ipam'

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
export type Placed = Planned | { readonly problem: KubeOvnError }

/**
 * Finds what a NIC is to have. Nothing is taken, and asking again gives the same but for a MAC address that is made up.
 *
 * What the NIC has already is kept as long as it meets a choice.
 */
export function placeClaim(claim: AddressClaim, view: PlacementView): Placed {
  let problem: KubeOvnError | undefined
  for (const choice of inOrder(claim, view)) {
    const placed = 'refusal' in choice ? { problem: choice.refusal } : ask(choice, claim, view)
    if (!('problem' in placed)) return placed
    const isPlace = 'refusal' in choice && choice.isPlace === true
    const isTold =
      problem === undefined ||
      claim.tells === 'last' ||
      (!isPlace && problem.code === 'ipam-address-out-of-range')
    if (isTold) problem = placed.problem
  }
  if (problem === undefined) throw new RangeError(`a claim needs a choice: ${claim.nic}`)
  return { problem }
}

function inOrder({ choices, prefersRoom }: AddressClaim, { ipam }: PlacementView): Iterable<Choice> {
  if (prefersRoom !== true) return choices
  const all = [...choices]
  const roomy = all.filter(
    (choice) => 'refusal' in choice || ipam.hasRoom(choice.subnet, choice.pool, choice.family),
  )
  return roomy.length > 0 ? roomy : all.slice(0, 1)
}

function ask(
  { entries, drawsUnseen, ...asked }: Ask,
  { nic, owner, uid }: AddressClaim,
  view: PlacementView,
): Placed {
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
