import { sourcePort, type Packet } from '../packet.ts'
import { meetsMatch, type MatchedPacket, type MatchNames } from './match.ts'
import type { AclRow, PolicyRows } from './policy-rows.ts'

/** A packet may pass, or not; `random` where ACLs of one priority contradict each other, and OVN takes any of them. */
export type RowVerdict = 'allow' | 'deny' | 'random'

/** OVN asks each stage from tier 0 on; what is allowed goes to the next stage. */
const stages = {
  egress: [
    ({ direction, isAfterBalancing }: AclRow) => direction === 'from-lport' && !isAfterBalancing,
    ({ direction, isAfterBalancing }: AclRow) => direction === 'from-lport' && isAfterBalancing,
  ],
  ingress: [({ direction }: AclRow) => direction === 'to-lport'],
} as const

const tiers = [0, 1, 2, 3] as const

/** Judges packets by rows. */
export class RowJudge {
  readonly #rows: PolicyRows
  readonly #names: MatchNames
  readonly #acls = new Map<string, readonly AclRow[]>()

  constructor(rows: PolicyRows) {
    this.#rows = rows
    const groups = new Map(rows.groups.map(({ name, ports }) => [name, new Set(ports)]))
    this.#names = {
      isInGroup: (group, port) => port !== undefined && groups.get(group)?.has(port) === true,
      addressesOf: (set) => rows.sets.get(set) ?? addressesOfGroup(set, groups, rows),
    }
  }

  /** Whether the switch of a port lets a packet through that comes from it, or goes to it. */
  verdict(direction: 'ingress' | 'egress', port: string, packet: Packet): RowVerdict {
    const acls = this.#aclsAround(port)
    const seen: MatchedPacket = {
      inport: direction === 'egress' ? port : undefined,
      outport: direction === 'ingress' ? port : undefined,
      ...{ family: packet.family, source: packet.from.address, destination: packet.to.address },
      ...{ protocol: packet.protocol, sourcePort, destinationPort: packet.port },
    }
    for (const isOfStage of stages[direction]) {
      const verdict = this.#stage(acls.filter(isOfStage), seen)
      if (verdict !== 'allow') return verdict
    }
    return 'allow'
  }

  #stage(acls: readonly AclRow[], packet: MatchedPacket): RowVerdict {
    for (const tier of tiers) {
      const met = acls.filter((acl) => acl.tier === tier && meetsMatch(acl.match, packet, this.#names))
      const highest = Math.max(...met.map(({ priority }) => priority))
      const actions = new Set(
        met.filter(({ priority }) => priority === highest).map(({ action }) => action.replace(/-.*/, '')),
      )
      if (actions.size > 1) return 'random'
      if (actions.has('drop')) return 'deny'
      if (actions.has('allow')) return 'allow'
    }
    return 'allow'
  }

  /** Those of its switch, and of every group that has a port on this. */
  #aclsAround(port: string): readonly AclRow[] {
    const around = this.#rows.switches.find(({ ports }) => ports.includes(port))
    if (around === undefined) return []
    let acls = this.#acls.get(around.name)
    if (acls === undefined) {
      const ports = new Set(around.ports)
      const groups = this.#rows.groups.filter((group) => group.ports.some((one) => ports.has(one)))
      this.#acls.set(around.name, (acls = [around, ...groups].flatMap((holder) => holder.acls)))
    }
    return acls
  }
}

/** ovn-northd makes two sets of each group. */
function addressesOfGroup(
  set: string,
  groups: ReadonlyMap<string, ReadonlySet<string>>,
  { ports }: PolicyRows,
): readonly string[] {
  const isV6 = set.endsWith('_ip6')
  return [...(groups.get(set.replace(/_ip[46]$/, '')) ?? [])].flatMap((port) =>
    (ports.get(port) ?? []).slice(1).filter((address) => address.includes(':') === isV6),
  )
}
