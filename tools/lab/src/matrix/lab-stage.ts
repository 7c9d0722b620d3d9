import type { Cluster } from '../cluster/cluster.ts'
import { MatrixError } from '../errors.ts'
import { askHere } from '../probe/ask.ts'
import { familyOfText, type ListenerPlace, type Protocol, type Question } from '../probe/question.ts'
import { resolveParty } from './endpoints.ts'
import type { Cell } from './plan.ts'
import { questionOf, type MatrixStage } from './stage.ts'

/** A lab: one process of the probe asks, and listens, in the namespaces of its pods and machines. */
export function labStage(cluster: Cluster): MatrixStage {
  return {
    resolve: (party) => resolveParty(cluster, party),
    ask: (cells, timeoutMs) => askHere(cells.map((cell) => questionHere(cell, timeoutMs))),
  }
}

function questionHere(cell: Cell, timeoutMs: number): Question {
  const { from } = cell
  if (from.netns === undefined) {
    const cure = 'pods, nodes or outside; a Service or an address can only be reached'
    throw new MatrixError('a connectivity matrix is not understood', {
      field: 'from',
      value: from.name,
      cure,
    })
  }
  const listeners = listenerPlaces(cell)
  return { ...questionOf(cell, listeners.length > 0, timeoutMs), netns: from.netns, listeners }
}

const transports: Partial<Record<Protocol, ListenerPlace['protocol']>> = {
  tcp: 'tcp',
  http: 'tcp',
  udp: 'udp',
  sctp: 'sctp',
  multicast: 'multicast',
}

/** Where a question may arrive. */
function listenerPlaces({ to, target, port, protocol, family }: Cell): readonly ListenerPlace[] {
  const transport = transports[protocol]
  if (transport === undefined) return []
  const ends = to.backends ?? (to.netns === undefined ? [] : [{ netns: to.netns, address: target, port }])
  return ends
    .filter(({ address }) => familyOfText(address) === family)
    .map((end) => ({ ...end, protocol: transport }))
}
