import { LabUsageError } from '../errors.ts'
import { isBlow } from '../faults/fault.ts'
import { applyFault, repairFault, standingFaults, strike } from '../faults/inject.ts'
import { faultUsage, faultWords, parseFault } from '../faults/words.ts'
import { step } from '../report.ts'
import { drillCommand } from './drill.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** `fault list`, `fault apply FAULT`, `fault drill FAULT` and `fault undo [NUMBER]`; what is applied stays when the command has ended. */
export async function faultCommand(
  cluster: Cluster,
  [action = 'list', ...words]: readonly string[],
): Promise<number> {
  switch (action) {
    case 'list':
      if (words[0] !== undefined) throw wrong(`fault list ${words[0]}`, 'nothing after it')
      return list(cluster)
    case 'apply':
      return apply(cluster, words)
    case 'drill':
      return drillCommand(cluster, words)
    case 'undo':
      return undo(cluster, words)
    default:
      throw wrong(`fault ${action}`, 'fault list, fault apply, fault drill or fault undo')
  }
}

function list(cluster: Cluster): number {
  const standing = standingFaults(cluster)
  if (standing.length === 0) process.stdout.write(`No fault stands. What can be applied:\n\n${faultUsage}`)
  for (const [index, fault] of standing.entries())
    process.stdout.write(`${index + 1}  ${faultWords(fault)}\n`)
  return 0
}

async function apply(cluster: Cluster, words: readonly string[]): Promise<number> {
  const fault = parseFault(words)
  await step(words.join(' '), () => (isBlow(fault) ? strike(cluster, fault) : applyFault(cluster, fault)))
  return 0
}

/** Newest first, since a fault may stand on another. */
async function undo(cluster: Cluster, [word, surplus]: readonly string[]): Promise<number> {
  if (surplus !== undefined) throw wrong(`fault undo ${surplus}`, 'one number at a time, or nothing for all')
  const standing = standingFaults(cluster)
  const chosen =
    word === undefined || word === 'all' ? standing : standing.slice(Number(word) - 1, Number(word))
  if (word !== undefined && word !== 'all' && (!/^[1-9]\d*$/.test(word) || chosen.length === 0))
    throw wrong(
      `fault undo ${word}`,
      standing.length === 0
        ? 'no fault stands'
        : `a number that "fault list" shows, of 1 to ${standing.length}, or nothing for all`,
    )
  for (const fault of [...chosen].reverse())
    await step(`undo ${faultWords(fault)}`, () => repairFault(cluster, fault))
  return 0
}

function wrong(argument: string, cure: string): LabUsageError {
  return new LabUsageError('the command line is not understood', { argument, cure })
}
