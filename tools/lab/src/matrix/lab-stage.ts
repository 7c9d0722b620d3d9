import type { Cluster } from '../cluster/cluster.ts'
import { MatrixError, ProbeSocketError } from '../errors.ts'
import { runAttempt, type Attempt, type Outcome, type Protocol } from '../probe/attempt.ts'
import { openGroupListener, openListener, probeGroups, type ListenerPlan } from '../probe/listener.ts'
import { Sightings } from '../probe/sightings.ts'
import { familyOfText } from '../probe/socket-address.ts'
import { resolveParty } from './endpoints.ts'
import type { Cell } from './plan.ts'
import { questionOf, type MatrixStage } from './stage.ts'

/** How many questions are under way at once; more would measure this process. */
const concurrency = 256

/** A lab: sockets of this process in the namespaces of its pods and machines ask, and listen. */
export function labStage(cluster: Cluster): MatrixStage {
  return {
    resolve: (party) => resolveParty(cluster, party),
    async ask(cells, timeoutMs) {
      const sightings = new Sightings()
      using listeners = openListeners(cells, sightings)
      const outcomes: Outcome[] = Array.from({ length: cells.length })
      const queue = cells.entries()
      await Promise.all(
        Array.from({ length: Math.min(concurrency, cells.length) }, async () => {
          for (const [index, cell] of queue)
            outcomes[index] = await runAttempt(attemptOf(cell, listeners.areOurs(cell), timeoutMs), sightings)
        }),
      )
      return outcomes
    },
  }
}

function attemptOf(cell: Cell, isOurs: boolean, timeoutMs: number): Attempt {
  const { from } = cell
  if (from.netns === undefined) {
    const cure = 'pods, nodes or outside; a Service or an address can only be reached'
    throw new MatrixError('a connectivity matrix is not understood', {
      field: 'from',
      value: from.name,
      cure,
    })
  }
  return { ...questionOf(cell, isOurs, timeoutMs), netns: from.netns }
}

interface Listeners extends Disposable {
  /** Whether everything that may answer a cell's question is ours. */
  areOurs(cell: Cell): boolean
}

const transports: Partial<Record<Protocol, ListenerPlan['protocol']>> = {
  tcp: 'tcp',
  http: 'tcp',
  udp: 'udp',
  sctp: 'sctp',
}

/** Opens what the cells need, each listener once. */
function openListeners(cells: readonly Cell[], sightings: Sightings): Listeners {
  const stack = new DisposableStack()
  const opened = new Map<string, boolean>()
  function ensure(key: string, open: () => Disposable | undefined): void {
    if (opened.has(key)) return
    try {
      const listener = stack.use(open())
      opened.set(key, listener !== undefined)
    } catch (error) {
      // The attempt says what is missing.
      if (!(error instanceof ProbeSocketError)) throw error
      opened.set(key, false)
    }
  }
  for (const cell of cells) {
    for (const plan of listenerPlans(cell)) ensure(JSON.stringify(plan), () => openListener(plan, sightings))
    const { netns } = cell.to
    if (cell.protocol !== 'multicast' || netns === undefined) continue
    const plan = { netns, address: cell.target, group: probeGroups[cell.family], port: cell.port }
    ensure(JSON.stringify(plan), () => openGroupListener(plan, sightings))
  }
  return {
    areOurs(cell) {
      const plans = listenerPlans(cell)
      return plans.length > 0 && plans.every((plan) => opened.get(JSON.stringify(plan)) === true)
    },
    [Symbol.dispose]: () => stack[Symbol.dispose](),
  }
}

/** Where a question may arrive. */
function listenerPlans({ to, target, port, protocol, family }: Cell): readonly ListenerPlan[] {
  const transport = transports[protocol]
  if (transport === undefined) return []
  const ends = to.backends ?? (to.netns === undefined ? [] : [{ netns: to.netns, address: target, port }])
  return ends
    .filter(({ address }) => familyOfText(address) === family)
    .map((end) => ({ ...end, protocol: transport }))
}
