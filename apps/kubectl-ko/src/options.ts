import { Option, type Command } from 'commander'

export const formats = ['table', 'wide', 'json', 'yaml'] as const

const clusterOptions = [
  ['--kubeconfig <file>', 'file to find the cluster in'],
  ['--context <name>', 'of the kubeconfig, in place of its current one'],
  ['--as <user>', 'act with the rights of this user'],
  ['--as-group <group...>', 'act with the rights of these groups'],
  ['--system-namespace <namespace>', 'namespace of the components; default: $KUBE_OVN_NS, else kube-system'],
] as const

/** Flags that say which cluster is meant; before the name of any command, and after that of most. */
export function withClusterOptions(command: Command): Command {
  for (const [flags, help] of clusterOptions)
    command.addOption(new Option(flags, help).helpGroup('Flags for the cluster:'))
  return command
}

export function withOutputOptions(command: Command, more: readonly string[] = []): Command {
  return command
    .addOption(
      new Option('-o, --output <format>', 'how to print').choices([...formats, ...more]).default('table'),
    )
    .option('--no-headers', 'no titles above tables')
}

/** For a command that does something: says what came of it in words, which have no titles, or for programs. */
export function withOutcomeOption(command: Command): Command {
  return command
    .addOption(
      new Option('-o, --output <format>', 'how to tell what came of it: table and wide in words')
        .choices(formats)
        .default('table'),
    )
    .option('--no-headers', 'as for other commands; words have no titles')
}

/** Shows examples below the flags. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`)
}
