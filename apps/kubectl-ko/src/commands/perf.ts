import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `perf`: how fast pods, hosts and a Service are, with pods that are taken away again. */
export function addPerf(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('perf')
        .description(
          'measure latency, bandwidth and loss between pods of two nodes, between their hosts, and through a Service; it loads the network, and takes its pods away again',
        )
        .argument('[image]', 'of the pods, with node in it; default: that of kube-ovn-cni, which is there')
        .option('--sizes <bytes>', 'of messages, separated by commas', '64,128,512,1024,4096')
        .option('--seconds <seconds>', 'for each of the four parts of a measurement', '5')
        .option('--from <node>', 'node of the clients; default: the second one')
        .option('--to <node>', 'node of the servers; default: the first one')
        .option('--timeout <seconds>', 'how long to wait for the pods', '300')
        .option('--svg <file>', 'draw it as well'),
    ),
  )
  withExamples(command, [
    'kubectl ko perf',
    'kubectl ko perf --sizes 64,1400 --seconds 1 --svg perf.svg',
    'kubectl ko perf --from node-3 --to node-7 -o json',
  ]).action(async (image: string | undefined) => {
    const { measurePerf } = await import('../actions/perf.ts')
    await measurePerf(context, command, image)
  })
}
