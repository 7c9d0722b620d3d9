import type { Command } from 'commander'
import type { Readable, Writable } from 'node:stream'
import { Cluster, type ClusterChoice } from './cluster.ts'
import { renderData, type OutputChoice } from './output.ts'

/** What a command has to do with the outside. */
export interface Context {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Aborted when the user wants it to end. */
  readonly signal: AbortSignal
  /** The code with which the program is to end. */
  exitCode: number
}

/** Opens the cluster that a command's flags name. */
export function openCluster(context: Context, command: Command): Promise<Cluster> {
  const choice = command.optsWithGlobals<Partial<ClusterChoice>>()
  const systemNamespace = choice.systemNamespace ?? (context.environment['KUBE_OVN_NS'] || 'kube-system')
  return Cluster.open({ ...choice, systemNamespace }, context.signal)
}

export function outputOf(command: Command): OutputChoice {
  return command.opts<OutputChoice>()
}

/** Says what came of a command: in words, unless it is told to say it to programs. */
export function printOutcome(context: Context, command: Command, data: unknown, words: string): void {
  const { output } = outputOf(command)
  print(context, output === 'json' || output === 'yaml' ? renderData(data, output) : words)
}

export function print(context: Context, text: string): void {
  context.stdout.write(text)
}
