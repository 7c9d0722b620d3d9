import { factTable } from '@kube-ovn/reconcile'
import { isSameNetwork, type Network } from './network.ts'

/** How far a Subnet has come. */
export interface Acceptance {
  /** What addresses, ports and routes are made of. */
  readonly inEffect: Network | undefined
  /** What was accepted, and takes effect once the object's status says so. Nobody else is accepted on it. */
  readonly accepted: Network | undefined
  /** What would have been accepted, had somebody no addresses that stand in the way. */
  readonly declined: Network | undefined
}

/** Of a Subnet that nothing was decided about. */
export const nothingInEffect: Acceptance = { inEffect: undefined, accepted: undefined, declined: undefined }

/** What was decided about a Subnet, and for which object of the name. */
export interface DecidedAcceptance extends Acceptance {
  readonly uid: string | undefined
}

/** What the keys of Subnets have decided, by the name of the Subnet. */
export const acceptances = factTable<DecidedAcceptance>({ name: 'acceptances' })

/**
 * Decides what is in effect, but nothing before the status of the object says so: then a controller that starts at any moment, and every
 * node, goes by what this one went by.
 *
 * Addresses of a network that is new can be asked for at once; their ports wait for the switch.
 *
 * @param before what was decided last
 * @param wanted what the specification means; `undefined` while it can not be used, which leaves in effect what was
 * @param isSaid whether the object's status says that the network is in effect
 */
export function accept(
  before: Acceptance,
  wanted: Network | undefined,
  isSaid: (network: Network) => boolean,
): Acceptance {
  const { inEffect, accepted: waiting } = before
  const settled = (network: Network | undefined): Acceptance => ({
    inEffect: network,
    accepted: undefined,
    declined: undefined,
  })
  if (wanted === undefined) {
    return settled(waiting !== undefined && isSaid(waiting) ? waiting : inEffect)
  }
  // What only nodes go by needs no second write.
  const isSettled = inEffect !== undefined && isSameNetwork(inEffect, wanted) && waiting === undefined
  if (isSettled || isSaid(wanted)) return settled(wanted)
  return { inEffect: inEffect ?? wanted, accepted: wanted, declined: undefined }
}

/** Whether the network is what was declined. */
export function isDeclined(network: Network, { declined }: Pick<Acceptance, 'declined'>): boolean {
  return declined !== undefined && isSameNetwork(declined, network)
}
