import type { Command } from 'commander'
import type { ToolLeader } from '../actions/pass-through.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { withExamples } from '../options.ts'

interface PassThrough {
  readonly name: string
  readonly tool: string
  readonly summary: string
  readonly examples: readonly string[]
}

const onLeaders: readonly (PassThrough & { readonly leader: ToolLeader })[] = [
  {
    name: 'nbctl',
    tool: 'ovn-nbctl',
    summary: "run ovn-nbctl where the Northbound's leader is",
    examples: ['kubectl ko nbctl show', 'kubectl ko nbctl --format=json list Logical_Switch'],
    leader: 'nb',
  },
  {
    name: 'sbctl',
    tool: 'ovn-sbctl',
    summary: "run ovn-sbctl where the Southbound's leader is",
    examples: ['kubectl ko sbctl show', 'kubectl ko sbctl lflow-list ovn-default'],
    leader: 'sb',
  },
  {
    name: 'icnbctl',
    tool: 'ovn-ic-nbctl',
    summary: "run ovn-ic-nbctl where the leader of the interconnection's Northbound is",
    examples: ['kubectl ko icnbctl show'],
    leader: 'icnb',
  },
  {
    name: 'icsbctl',
    tool: 'ovn-ic-sbctl',
    summary: "run ovn-ic-sbctl where the leader of the interconnection's Southbound is",
    examples: ['kubectl ko icsbctl show'],
    leader: 'icsb',
  },
]

const onNodes: readonly PassThrough[] = [
  {
    name: 'vsctl',
    tool: 'ovs-vsctl',
    summary: 'run ovs-vsctl on a node',
    examples: ['kubectl ko vsctl node-1 show', 'kubectl ko vsctl node-1 list Interface ovn0'],
  },
  {
    name: 'ofctl',
    tool: 'ovs-ofctl',
    summary: 'run ovs-ofctl on a node',
    examples: ['kubectl ko ofctl node-1 show br-int', 'kubectl ko ofctl node-1 dump-flows br-int table=0'],
  },
  {
    name: 'dpctl',
    tool: 'ovs-dpctl',
    summary: "run ovs-dpctl on a node, for the kernel's data path",
    examples: ['kubectl ko dpctl node-1 show'],
  },
  {
    name: 'appctl',
    tool: 'ovs-appctl',
    summary: 'run ovs-appctl on a node',
    examples: ['kubectl ko appctl node-1 list-commands', 'kubectl ko appctl node-1 dpctl/dump-flows'],
  },
]

/** Adds the commands that run a tool of OVN or Open vSwitch with the arguments as they are, and end as it does. */
export function addPassThrough(program: Command, context: Context): void {
  for (const { name, tool, summary, examples, leader } of onLeaders) {
    const command = passing(program, name, `${summary}; arguments are those of ${tool}`, examples)
    command.argument('[args...]', `arguments of ${tool}`).action(async (args: readonly string[]) => {
      if (asksForHelp(args)) return command.outputHelp()
      const { runOnLeader } = await import('../actions/pass-through.ts')
      await runOnLeader(context, command, leader, [tool, ...args])
    })
  }
  for (const { name, tool, summary, examples } of onNodes) {
    const command = passing(program, name, `${summary}; further arguments are those of ${tool}`, examples)
    command
      .argument('[node]', 'name of the node')
      .argument('[args...]', `arguments of ${tool}`)
      .action(async (node: string | undefined, args: readonly string[]) => {
        if (node === undefined)
          throw new UsageError('node', '', `write kubectl ko ${name} NODE and what ${tool} is to do`)
        if (asksForHelp([node, ...args])) return command.outputHelp()
        const { runOnNode } = await import('../actions/pass-through.ts')
        await runOnNode(context, command, node, [tool, ...args])
      })
  }
}

function passing(program: Command, name: string, summary: string, examples: readonly string[]): Command {
  const command = program
    .command(name)
    .description(summary)
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
  return withExamples(command, examples)
}

/** Alone it asks for ours; after anything else it is the tool's. */
function asksForHelp(args: readonly string[]): boolean {
  return args.length === 1 && (args[0] === '--help' || args[0] === '-h')
}
