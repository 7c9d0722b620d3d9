import { podAnnotations } from '@kube-ovn/annotations'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { onNode } from '../components.ts'
import { openCluster, type Context } from '../context.ts'
import { NotReadyError } from '../errors.ts'
import { withClusterOptions, withExamples } from '../options.ts'
import { findInterfaces, findPod, nodeOf, portOf } from '../trace/endpoints.ts'
import { parseSource } from '../trace/request.ts'

interface TcpdumpOptions {
  readonly namespace: string
  readonly provider?: string
}

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
    const { namespace, provider } = command.opts<TcpdumpOptions>()
    await using cluster = await openCluster(context, command)
    const source = parseSource(target, namespace)
    const { node, enter } =
      source.kind === 'node'
        ? { node: source.name, enter: ['tcpdump', '-nn'] }
        : await tcpdumpOf(cluster, source.namespace, source.name, provider)
    const agent = await onNode(cluster, node, 'kube-ovn-cni')
    const words = [...enter, ...args]
    context.stderr.write(`+ ${words.join(' ')}\n`)
    context.exitCode = await cluster.runWithUs(agent, words, context)
  })
}

/** The beginning of the command for a pod, to be run in the agent of its node. */
async function tcpdumpOf(
  cluster: Cluster,
  namespace: string,
  name: string,
  provider: string | undefined,
): Promise<{ readonly node: string; readonly enter: readonly string[] }> {
  const pod = await findPod(cluster, namespace, name)
  const node = nodeOf(pod)
  if (pod.spec.hostNetwork === true) return { node, enter: ['tcpdump', '-nn'] }
  const [nic] = await findInterfaces(cluster, node, portOf(pod, provider))
  if (nic?.netns === undefined) {
    throw new NotReadyError(
      'pod',
      `${namespace}/${name}: nic doesn't exist on node ${node}`,
      'wait until it runs: kubectl ko why says what it lacks',
    )
  }
  const isInternal = podAnnotations(provider).podNicType.read(pod.metadata.annotations) === 'internal-port'
  const nicName = isInternal ? nic.name : (nic.nicInPod ?? 'eth0')
  return { node, enter: ['nsenter', `--net=${nic.netns}`, 'tcpdump', '-nn', '-i', nicName] }
}
