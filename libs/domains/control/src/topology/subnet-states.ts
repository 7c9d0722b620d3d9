import { groupTable, rowTable } from '@kube-ovn/tables'
import { isDeclined, nothingInEffect, type Acceptance } from './acceptance.ts'
import type { SubnetError } from './errors.ts'
import type { Network } from './network.ts'
import { addressesOfNodes } from './addresses-of-nodes.ts'
import { noNodes, type NodeAddress, type NodesByAddress } from './node-addresses.ts'
import { findConflict, nodesInside, PlacesInUse } from './subnet-conflicts.ts'
import { settingsTable } from '../sources.ts'
import { builtInClaims, subnetClaims, type SubnetClaim } from './subnet-claims.ts'
import type { ResolvedSubnet } from './subnet-spec.ts'

/** How a Subnet stands beside all others. */
export interface SubnetState {
  /** What was decided; before anything was, what is in effect since the start, or since the object was made. */
  readonly acceptance: Acceptance
  /** What its specification means, unless that can not be. */
  readonly wanted: ResolvedSubnet | undefined
  readonly problem: SubnetError | undefined
  /** Addresses of nodes that lie in what is in effect, and were there later. */
  readonly nodesInside: readonly NodeAddress[]
}

/**
 * Decides about all Subnets at once, by what each of them asks for.
 *
 * What was decided stays. Of two that nothing was decided about and that contradict each other the one that was valid wins, then the
 * older one. After all these come specifications that are not in effect: the older one first.
 */
export function decideSubnets(
  claims: readonly SubnetClaim[],
  nodes: NodesByAddress,
): ReadonlyMap<string, SubnetState> {
  const inUse = new PlacesInUse()
  const acceptances = new Map<string, Acceptance>()
  for (const { name, decided } of claims) {
    if (decided === undefined) continue
    const { inEffect, accepted, declined } = decided
    acceptances.set(name, { inEffect, accepted, declined })
    for (const network of [inEffect, accepted]) if (network !== undefined) inUse.add(network)
  }
  const candidates = claims.flatMap((claim) => claim.candidates)
  for (const { network, wasInEffect } of candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (acceptances.has(network.name)) continue
    if (findConflict(network, inUse, wasInEffect ? noNodes : nodes) !== undefined) continue
    const accepted = wasInEffect ? undefined : network
    acceptances.set(network.name, { inEffect: network, accepted, declined: undefined })
    inUse.add(network)
  }
  const states = new Map<string, SubnetState>()
  for (const claim of claims.toSorted((a, b) => (a.age < b.age ? -1 : 1))) {
    const { name } = claim
    const acceptance = acceptances.get(name) ?? nothingInEffect
    const conflict = claim.wanted && findConflict(claim.wanted.network, inUse, nodes)
    if (claim.wanted !== undefined && conflict === undefined) {
      const { network } = claim.wanted
      if (!isDeclined(network, acceptance)) inUse.add(network)
    }
    const { inEffect } = acceptance
    states.set(name, {
      acceptance,
      wanted: conflict === undefined ? claim.wanted : undefined,
      problem: claim.problem ?? conflict,
      nodesInside: inEffect === undefined ? [] : nodesInside(inEffect, nodes),
    })
  }
  return states
}

/** How Subnets stand beside each other. */
export const subnetStates = groupTable({
  name: 'subnet-states',
  of: settingsTable,
  by: 'all',
  reads: { builtInClaims, subnetClaims, addressesOfNodes },
  rows: (_settings, views) =>
    decideSubnets(
      [...views.builtInClaims.scan(), ...views.subnetClaims.scan()],
      views.addressesOfNodes.get('') ?? noNodes,
    ),
  indexes: { node: ({ nodesInside }: SubnetState) => [...new Set(nodesInside.map(({ node }) => node))] },
})

/** The subnets that are in effect. One that was edited badly stays as it was. */
export const networks = rowTable({
  name: 'networks',
  of: subnetStates,
  row: ({ acceptance }): Network | undefined => acceptance.inEffect,
})
