import { masksOfRange } from '@kube-ovn/ovn-match'
import { blockFlows } from './address-parts.ts'
import type { PolicyPort, PolicyRule } from './rules.ts'

/**
 * As many OpenFlow rules peers and ports of a rule may come to in a family as long as each port has an ACL of its own, as in the original: each
 * costs a rule for each peer. Beyond it the ports of a protocol are in one ACL, and cost as much as peers and ports are together.
 */
export const mostFlowsApart = 1024

/** As many peers a selection counts for, of pods, nodes or what a DNS name stands for: how many it has changes with each that comes. */
export const selectedPeers = 64

/** As many OpenFlow rules what a policy says of a direction may come to, where a selection of pods counts as one peer: as many as a node can well have. */
export const mostPolicyFlows = 16_384

/** The room that the rules of a direction have, in their order. */
export class FlowRoom {
  #left = mostPolicyFlows

  /** Whether there is room for a rule, which it then has. */
  take(flows: number): boolean {
    if (flows > this.#left) return false
    this.#left -= flows
    return true
  }
}

/** How many OpenFlow rules ports and peers come to at most, as they are written. */
function flowsTogether(peers: number, ports: number): number {
  return Math.min(peers * ports, peers + ports + 1)
}

/** How many values of the field ports are. */
export function portFlows(from: number, to: number): number {
  return masksOfRange(BigInt(from), BigInt(to), 16)
}

/** How many OpenFlow rules a rule comes to, as far as that can be told by what it says. */
export function flowsOfRule({ peers, ports }: PolicyRule): number {
  const selected = peers === undefined || peers.pods.length > 0 ? 1 : 0
  const blocks = (peers?.blocks ?? []).reduce((sum, block) => sum + blockFlows(block), 0)
  return flowsAt(selected + blocks, ports)
}

/** How many OpenFlow rules so many peers come to at ports; absent for all of them. */
export function flowsAt(peers: number, ports: readonly PolicyPort[] | undefined): number {
  return flowsTogether(
    peers,
    (ports ?? [undefined]).reduce((sum, port) => sum + flowsOfPort(port), 0),
  )
}

function flowsOfPort(port: PolicyPort | undefined): number {
  return port?.kind === 'numbers' ? portFlows(port.from, port.to) : 1
}
