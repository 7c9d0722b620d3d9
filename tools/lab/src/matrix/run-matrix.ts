import type { Cluster } from '../cluster/cluster.ts'
import { MatrixError, ProbeSocketError } from '../errors.ts'
import { runAttempt, type Attempt, type Outcome, type Protocol } from '../probe/attempt.ts'
import { openGroupListener, openListener, probeGroups, type ListenerPlan } from '../probe/listener.ts'
import { Sightings } from '../probe/sightings.ts'
import { familyOfText, type ProbeFamily } from '../probe/socket-address.ts'
import { parseMatrix, type MatrixRuleInput } from './declaration.ts'
import { resolveParty } from './endpoints.ts'
import { judge, type Judgement } from './judge.ts'
import { planCells, type Cell } from './plan.ts'

/** One pair, protocol and family: what was expected, and what was seen. */
export interface MatrixRow extends Judgement {
  readonly rule: string
  readonly from: string
  readonly to: string
  readonly address: string
  readonly family: ProbeFamily
  readonly protocol: Protocol
  /** From the last request to its answer, while all others are asked as well. */
  readonly ms?: number
  /** What the listener saw, where it is ours. */
  readonly source?: string
  readonly ttl?: number
  readonly dscp?: number
  readonly detail?: string
}

export interface MatrixResult {
  readonly rows: readonly MatrixRow[]
  readonly ms: number
}

export interface MatrixOptions {
  /** How long an answer may take, and therefore how long it takes to see that something is not reached. */
  readonly timeoutMs?: number
}

/** How many questions are under way at once; more would measure this process. */
const concurrency = 256

/**
 * Asks the network everything that a matrix declares and holds the answers against what it expects.
 *
 * Where a rule's targets are in the lab, listeners of ours wait at them for as long as this takes, so that it does not depend on what
 * the pods serve, and it is known what arrived. A port on which a pod listens itself is left to it.
 *
 * @throws {MatrixError} if the declaration is not understood, or names nobody
 */
export async function runMatrix(
  cluster: Cluster,
  declared: readonly MatrixRuleInput[],
  { timeoutMs = 3000 }: MatrixOptions = {},
): Promise<MatrixResult> {
  const started = performance.now()
  const cells = (
    await Promise.all(
      parseMatrix(declared).map(async (rule) => {
        const [from, to] = await Promise.all(
          [rule.from, rule.to].map(async (parties) =>
            (await Promise.all(parties.map((party) => resolveParty(cluster, party)))).flat(),
          ),
        )
        return planCells(rule, from ?? [], to ?? [])
      }),
    )
  ).flat()
  const sightings = new Sightings()
  using listeners = openListeners(cells, sightings)
  const rows: MatrixRow[] = Array.from({ length: cells.length })
  const queue = cells.entries()
  await Promise.all(
    Array.from({ length: Math.min(concurrency, cells.length) }, async () => {
      for (const [index, cell] of queue) {
        const outcome = await runAttempt(attemptOf(cell, listeners.areOurs(cell), timeoutMs), sightings)
        rows[index] = rowOf(cell, outcome)
      }
    }),
  )
  return { rows, ms: performance.now() - started }
}

function attemptOf(cell: Cell, isOurs: boolean, timeoutMs: number): Attempt {
  const { from, family, protocol, target, port, dscp, lookup } = cell
  const source = from.addresses.find((address) => familyOfText(address) === family)
  if (from.netns === undefined) {
    const cure = 'pods, nodes or outside; a Service or an address can only be reached'
    throw new MatrixError('a connectivity matrix is not understood', {
      field: 'from',
      value: from.name,
      cure,
    })
  }
  return {
    netns: from.netns,
    target,
    port,
    protocol,
    isOurs,
    timeoutMs,
    ...(source === undefined ? {} : { source }),
    ...(dscp === undefined ? {} : { dscp }),
    ...(lookup === undefined ? {} : { name: lookup }),
  }
}

function rowOf(cell: Cell, outcome: Outcome): MatrixRow {
  const { rule, from, to, target, family, protocol } = cell
  const seen = outcome.kind === 'skipped' ? undefined : outcome.seen
  return {
    rule,
    from: from.name,
    to: to.name,
    address: target,
    family,
    protocol,
    ...judge(cell.expect, from, outcome),
    ...(outcome.kind === 'reached' ? { ms: Math.round(outcome.ms * 100) / 100 } : {}),
    ...(outcome.kind === 'reached' && outcome.detail !== undefined ? { detail: outcome.detail } : {}),
    ...(seen === undefined ? {} : { source: seen.source }),
    ...(seen?.ttl === undefined ? {} : { ttl: seen.ttl }),
    ...(seen?.dscp === undefined ? {} : { dscp: seen.dscp }),
  }
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
