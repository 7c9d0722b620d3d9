import type { NodeChassis } from '@kube-ovn/domains-control/topology'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { OvnSouthbound } from '@kube-ovn/ovsdb-schema'

/** What is looked at of a row of Chassis. */
export type Chassis = Pick<
  OvnSouthbound['Chassis'],
  '_uuid' | 'name' | 'hostname' | 'external_ids' | 'other_config'
>

interface ChassisSnapshot {
  /** All of them. */
  readonly nodes: readonly NodeChassis[]
  readonly chassis: readonly Chassis[]
  /** Names of chassis that were removed because their node, which is named, was gone. */
  readonly removed: ReadonlyMap<string, string>
}

/** A row that should say whose it is. */
export interface Mark {
  readonly chassis: Chassis
  readonly node: string
}

/** A row that should not be there. */
export interface Doomed extends Mark {
  /** `replaced`: the node has another one. */
  readonly why: 'node-gone' | 'replaced'
}

/** A node whose chassis waits, and why. */
export interface Waiting {
  readonly node: string
  readonly chassis: string
  /** Why: the Southbound does not have it yet, beside others of this host, or other nodes have it as well. */
  readonly reason:
    | { readonly is: 'unregistered'; readonly others: readonly string[] }
    | { readonly is: 'shared'; readonly nodes: readonly string[] }
}

export interface DesiredChassis {
  readonly marks: readonly Mark[]
  readonly doomed: readonly Doomed[]
  readonly waiting: readonly Waiting[]
}

/**
 * Says which chassis are those of nodes, and which were.
 *
 * A chassis is a node's because the node's agent says so: neither is the hostname always the node's name, nor is every chassis one of
 * ours. What we have not marked is let alone.
 */
export function desiredChassis({ nodes, chassis, removed }: ChassisSnapshot): DesiredChassis {
  const chassisOf = new Map(nodes.map(({ node, chassis: told }) => [node, told]))
  const claimants = claimantsOf(nodes)
  const own = chassis.filter((row) => !isRemote(row))
  const marks = own.flatMap((row): readonly Mark[] => {
    const node = ownerOf(row, claimants.get(row.name)) ?? removed.get(row.name)
    return node === undefined || isMarked(row, node) ? [] : [{ chassis: row, node }]
  })
  const isNodeUntold = nodes.some((node) => node.chassis === undefined)
  const doomed = own.flatMap((row): readonly Doomed[] => {
    if (row.external_ids[externalId.vendor] !== vendor || claimants.has(row.name)) return []
    const said = row.external_ids[externalId.node]
    const node = said ?? row.hostname
    if (chassisOf.has(node)) {
      const successor = chassisOf.get(node)
      const isReplaced = successor !== undefined && claimants.get(successor)?.length === 1
      return isReplaced ? [{ chassis: row, node, why: 'replaced' }] : []
    }
    // Upstream's mark names no node, and the hostname may be another name: it may be that of a node which has not told yet.
    return said === undefined && isNodeUntold ? [] : [{ chassis: row, node, why: 'node-gone' }]
  })
  return { marks, doomed, waiting: waitingOf(claimants, chassis) }
}

/** By chassis, the names of nodes that say that it is theirs, in order. */
function claimantsOf(nodes: readonly NodeChassis[]): ReadonlyMap<string, readonly string[]> {
  const claims = nodes.flatMap(({ node, chassis }) => (chassis === undefined ? [] : [{ node, chassis }]))
  const byChassis = Map.groupBy(claims, ({ chassis }) => chassis)
  return new Map([...byChassis].map(([chassis, some]) => [chassis, some.map(({ node }) => node).sort()]))
}

function waitingOf(
  claimants: ReadonlyMap<string, readonly string[]>,
  chassis: readonly Chassis[],
): readonly Waiting[] {
  const names = new Set(chassis.map(({ name }) => name))
  return [...claimants].flatMap(([name, all]) =>
    all.flatMap((node): readonly Waiting[] => {
      if (!names.has(name)) {
        const others = chassis.filter(({ hostname }) => hostname === node).map((other) => other.name)
        return [{ node, chassis: name, reason: { is: 'unregistered', others } }]
      }
      const nodes = all.filter((other) => other !== node)
      return nodes.length === 0 ? [] : [{ node, chassis: name, reason: { is: 'shared', nodes } }]
    }),
  )
}

/** Of several nodes that have it, the one for which it is marked. */
function ownerOf({ external_ids: ids }: Chassis, claimants: readonly string[] = []): string | undefined {
  return claimants.find((node) => node === ids[externalId.node]) ?? claimants[0]
}

function isMarked({ external_ids: ids }: Chassis, node: string): boolean {
  return ids[externalId.vendor] === vendor && ids[externalId.node] === node
}

/** One of another availability zone, which ovn-ic keeps. */
function isRemote({ other_config: config }: Chassis): boolean {
  return config['is-remote'] === 'true'
}
