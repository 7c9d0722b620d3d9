import type { Cluster } from '../cluster/cluster.ts'
import type { Outcome, ProbeFamily, Protocol } from '../probe/question.ts'
import { parseMatrix, type MatrixRuleInput } from './declaration.ts'
import { judge, type Judgement } from './judge.ts'
import { labStage } from './lab-stage.ts'
import { planCells, type Cell } from './plan.ts'
import type { MatrixStage } from './stage.ts'

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
  /** The address of the listener: which of several it was led to. */
  readonly at?: string
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

/**
 * Asks the network of a lab everything that a matrix declares and holds the answers against what it expects.
 *
 * Where a rule's targets are in the lab, listeners of ours wait at them for as long as this takes, so that it does not depend on what
 * the pods serve, and it is known what arrived. A port on which a pod listens itself is left to it.
 *
 * @throws {MatrixError} if the declaration is not understood, or names nobody
 */
export function runMatrix(
  cluster: Cluster,
  declared: readonly MatrixRuleInput[],
  options?: MatrixOptions,
): Promise<MatrixResult> {
  return runMatrixOn(labStage(cluster), declared, options)
}

/**
 * The same wherever it is staged.
 *
 * @throws {MatrixError} if the declaration is not understood, or names nobody
 */
export async function runMatrixOn(
  stage: MatrixStage,
  declared: readonly MatrixRuleInput[],
  { timeoutMs = 3000 }: MatrixOptions = {},
): Promise<MatrixResult> {
  const started = performance.now()
  const cells = (
    await Promise.all(
      parseMatrix(declared).map(async (rule) => {
        const [from, to] = await Promise.all(
          [rule.from, rule.to].map(async (parties) =>
            (await Promise.all(parties.map((party) => stage.resolve(party)))).flat(),
          ),
        )
        return planCells(rule, from ?? [], to ?? [])
      }),
    )
  ).flat()
  const outcomes = await stage.ask(cells, timeoutMs)
  const rows = cells.flatMap((cell, index) => {
    const outcome = outcomes[index]
    return outcome === undefined ? [] : [rowOf(cell, outcome)]
  })
  return { rows, ms: performance.now() - started }
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
    ...(seen?.at === undefined ? {} : { at: seen.at }),
    ...(seen?.ttl === undefined ? {} : { ttl: seen.ttl }),
    ...(seen?.dscp === undefined ? {} : { dscp: seen.dscp }),
  }
}
