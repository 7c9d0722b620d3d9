import { programs } from '../paths.ts'
import { runProgram } from '../program.ts'
import { parseOutcomes, type Outcome, type Question } from './question.ts'

/**
 * Puts questions to the network from this machine, in whose namespaces they are asked and listened for.
 *
 * @throws {ProgramError} if one can not be asked at all, because its namespace is gone for example
 */
export async function askHere(questions: readonly Question[]): Promise<readonly Outcome[]> {
  return parseOutcomes(await runProgram(programs.probe, ['ask'], { input: JSON.stringify(questions) }))
}
