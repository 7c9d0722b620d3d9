import type { Cluster } from '../cluster/cluster.ts'
import { readMatrix } from './declaration.ts'
import { exampleMatrix } from './preset.ts'
import { renderMatrix } from './render.ts'
import { runMatrix } from './run-matrix.ts'

/**
 * Runs the matrix of a file, or that of the example, and prints it.
 *
 * @returns the exit code: 1 if anything differs
 */
export async function runMatrixCommand(
  cluster: Cluster,
  file: string | undefined,
  isJson: boolean,
): Promise<number> {
  const result = await runMatrix(cluster, file === undefined ? exampleMatrix : readMatrix(file))
  process.stdout.write(isJson ? `${JSON.stringify(result, undefined, 2)}\n` : renderMatrix(result))
  return result.rows.some(({ verdict }) => verdict === 'differs') ? 1 : 0
}
