import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples } from '../options.ts'

/** Adds `tcpdump`: the packets of a NIC of a pod, from the namespace of the pod. */
export function addTcpdump(program: Command, context: Context): void {
  const command = withClusterOptions(
    program
      .command('tcpdump')
      .description('show the packets of a pod, of any of its NICs, also of a machine of KubeVirt')
      .argument('<pod>', 'NAMESPACE/POD or POD; or node//NAME')
      .argument('[args...]', 'arguments of tcpdump')
      .option('-n, --namespace <namespace>', 'of a pod without one', 'default')
      .option('--provider <provider>', 'network of the NIC, e.g. net1.shop.ovn; default: the first one')
      .passThroughOptions(),
  )
  withExamples(command, [
    'kubectl ko tcpdump shop/web-0 -c 10 icmp',
    'kubectl ko tcpdump shop/web-0 -w - port 80 > web.pcap',
    'kubectl ko tcpdump --provider net1.shop.ovn shop/web-0',
  ]).action(async (target: string, args: readonly string[]) => {
    const { capture } = await import('../actions/tcpdump.ts')
    await capture(context, command, target, args)
  })
}
