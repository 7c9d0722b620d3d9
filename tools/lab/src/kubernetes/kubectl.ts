import { join } from 'node:path'
import { programs } from '../paths.ts'
import { runProgram, startProgram } from '../program.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ChildProcess } from 'node:child_process'

const program = join(programs.kubernetes, 'kubectl')

/** Runs kubectl as a user would and returns its standard output. */
export function kubectl(cluster: Pick<Cluster, 'kubeconfig'>, ...args: readonly string[]): Promise<string> {
  return runProgram(program, args, { env: { KUBECONFIG: cluster.kubeconfig }, timeoutMs: 180_000 })
}

/** The same with standard input. */
export function kubectlWithInput(
  cluster: Pick<Cluster, 'kubeconfig'>,
  input: string,
  ...args: readonly string[]
): Promise<string> {
  return runProgram(program, args, { input, env: { KUBECONFIG: cluster.kubeconfig }, timeoutMs: 180_000 })
}

/** Starts a kubectl that runs until it is killed, such as port-forward. */
export function startKubectl(cluster: Pick<Cluster, 'kubeconfig'>, ...args: readonly string[]): ChildProcess {
  return startProgram(program, ['--kubeconfig', cluster.kubeconfig, ...args])
}
