import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

const examples = [
  'shop/web-0 10.16.0.7 icmp',
  'shop/web-0 10.96.0.10 udp 53',
  'shop/web-0 fd00:10:16::7 tcp 80',
  'shop/web-0 10.16.0.7 0a:58:0a:10:00:07 tcp 80',
  'shop/web-0 10.16.0.1 arp reply',
  'node//node-1 10.16.0.7 tcp 80',
]

/** Adds `trace` and `ovn-trace`: the way of a packet through the logical network, and through a node's flows. */
export function addTraces(program: Command, context: Context): void {
  addTrace(program, context, 'ovn-trace', false)
  addTrace(program, context, 'trace', true)
}

function addTrace(program: Command, context: Context, name: string, isWithOvs: boolean): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command(name)
        .description(
          `follow a packet through the logical network${isWithOvs ? ' and the flows of the node that it starts on' : ''}; the last line of standard error says what becomes of it`,
        )
        .argument('<source>', 'NAMESPACE/POD, POD or node//NAME')
        .argument('<address>', 'where it goes, IPv4 or IPv6')
        .argument(
          '[words...]',
          'perhaps the MAC address it goes to, then icmp, tcp PORT, udp PORT or arp [request|reply]',
        )
        .option('-n, --namespace <namespace>', 'of a pod without one', 'default')
        .option(
          '--provider <provider>',
          'network of the pod that the packet leaves by; default: the first one',
        ),
    ),
  )
  withExamples(
    command,
    examples.map((words) => `kubectl ko ${name} ${words}`),
  ).action(async (source: string, address: string, words: readonly string[]) => {
    const { tracePacket } = await import('../actions/trace.ts')
    await tracePacket(context, command, { source, address, words, isWithOvs })
  })
}
