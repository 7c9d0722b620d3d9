import { podAnnotations } from '@kube-ovn/annotations'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { onNode } from '../components.ts'
import { openCluster, type Context } from '../context.ts'
import { NotReadyError } from '../errors.ts'
import { findInterfaces, findPod, nodeOf, portOf } from '../trace/endpoints.ts'
import { parseSource } from '../trace/request.ts'

interface TcpdumpOptions {
  readonly namespace: string
  readonly provider?: string
}

/** Shows the packets of a NIC. */
export async function capture(
  context: Context,
  command: Command,
  target: string,
  args: readonly string[],
): Promise<void> {
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
  context.exitCode = await cluster.run(agent, words, context)
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
