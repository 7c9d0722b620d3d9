import { familyOfText, type Outcome, type Question } from '../probe/question.ts'
import type { Party } from './declaration.ts'
import type { Endpoint } from './endpoints.ts'
import type { Cell } from './plan.ts'

/** Where a matrix is run: who takes part there, and how they are asked. */
export interface MatrixStage {
  /**
   * Finds everybody whom a party stands for.
   *
   * @throws {MatrixError} if there is nobody
   */
  resolve(party: Party): Promise<readonly Endpoint[]>
  /** Puts all questions to the network, and returns what became of each, in their order. */
  ask(cells: readonly Cell[], timeoutMs: number): Promise<readonly Outcome[]>
}

/**
 * What is asked for a cell, wherever it is asked.
 *
 * @param isOurs whether everything that may answer is a listener of ours
 */
export function questionOf(cell: Cell, isOurs: boolean, timeoutMs: number): Question {
  const { from, family, protocol, target, port, dscp, lookup } = cell
  const source = from.addresses.find((address) => familyOfText(address) === family)
  return {
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
