import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { parseClusterStatus } from '@kube-ovn/ovs'
import type { Cluster, PodContainer } from './cluster.ts'
import { databases } from './databases.ts'
import { leaderLabels } from './leader-labels.ts'
import { ComponentMissingError, LeaderMissingError, ObjectMissingError } from './errors.ts'

/** Of OVN, who has one leader. */
export type Led = 'nb' | 'sb' | 'northd'

function isReady(pod: Pod): boolean {
  const { phase, conditions = [] } = pod.status ?? {}
  return phase === 'Running' && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** The pods of a component, by the label that tools have always gone by. */
export async function podsOf(
  { client, namespace }: Cluster,
  app: string,
  node?: string,
): Promise<readonly Pod[]> {
  const { items } = await client.list(pods, {
    namespace,
    labelSelector: `app=${app}`,
    ...(node !== undefined && { fieldSelector: `spec.nodeName=${node}` }),
  })
  return items
}

function centralContainer({ metadata: { namespace = '', name } }: Pod): PodContainer {
  return { namespace, pod: name, container: 'ovn-central' }
}

/** The pods of ovn-central that run, ready or not. */
export async function centralMembers(cluster: Cluster): Promise<readonly PodContainer[]> {
  const members = (await podsOf(cluster, 'ovn-central')).filter(({ status }) => status?.phase === 'Running')
  if (members.length === 0) {
    throw new ComponentMissingError(
      'ovn-central',
      '',
      `see why none runs: kubectl -n ${cluster.namespace} describe pods -l app=ovn-central`,
    )
  }
  return members.map(centralContainer)
}

/**
 * Finds the pod of ovn-central that leads: by its label where something sets it, else by asking the members.
 *
 * @throws LeaderMissingError
 */
export async function findLeader(cluster: Cluster, led: Led): Promise<PodContainer> {
  const ready = (await podsOf(cluster, 'ovn-central')).filter(isReady)
  const labelled = ready.find(({ metadata: { labels = {} } }) => labels[leaderLabels[led]] === 'true')
  if (labelled !== undefined) return centralContainer(labelled)
  const members = ready.map(centralContainer)
  const [only, ...others] = members
  if (only !== undefined && others.length === 0) return only
  const claims = await Promise.all(members.map((member) => leads(cluster, led, member)))
  const leader = members.find((_, index) => claims[index])
  if (leader !== undefined) return leader
  throw new LeaderMissingError(
    led,
    '',
    `see who is ready, and what they say: kubectl ko ${led === 'northd' ? 'nb' : led} dbstatus; kubectl -n ${cluster.namespace} get pods -l app=ovn-central`,
  )
}

async function leads(cluster: Cluster, led: Led, member: PodContainer): Promise<boolean> {
  if (led === 'northd') {
    const { stdout } = await cluster.ask(member, ['ovn-appctl', '-t', 'ovn-northd', 'status'])
    return /active/.test(stdout)
  }
  const { control, schema } = databases[led]
  const { stdout } = await cluster.ask(member, ['ovn-appctl', '-t', control, 'cluster/status', schema])
  return parseClusterStatus(stdout).isLeader
}

/**
 * Finds the pod that leads a database of the interconnection.
 *
 * @throws LeaderMissingError also where there is no interconnection
 */
export async function findInterconnectionLeader(
  { client, namespace }: Cluster,
  led: 'icnb' | 'icsb',
): Promise<PodContainer> {
  const { items } = await client.list(pods, { namespace, labelSelector: `${leaderLabels[led]}=true` })
  const leader = items.find((pod) => pod.metadata.name.startsWith('ovn-ic-server') && isReady(pod))
  if (leader !== undefined) {
    return { namespace, pod: leader.metadata.name, container: leader.spec.containers[0]?.name ?? '' }
  }
  const words = led === 'icnb' ? 'ic nb' : 'ic sb'
  throw new LeaderMissingError(
    words,
    '',
    `ask a cluster in which the databases of the interconnection run: none has a pod labelled ${leaderLabels[led]}=true here`,
  )
}

export type NodeComponent = 'ovs' | 'kube-ovn-cni' | 'kube-ovn-pinger'

const containers: Record<NodeComponent, string> = {
  ovs: 'openvswitch',
  'kube-ovn-cni': 'cni-server',
  'kube-ovn-pinger': 'pinger',
}

/**
 * Finds the pod of a component on a node.
 *
 * @throws ObjectMissingError, ComponentMissingError
 */
export async function onNode(
  cluster: Cluster,
  node: string,
  component: NodeComponent,
): Promise<PodContainer> {
  if ((await cluster.client.get(nodes, { name: node })) === undefined)
    throw new ObjectMissingError('node', node, 'write one of: kubectl get nodes')
  const found = await podsOf(cluster, component, node)
  const pod = found.find(isReady) ?? found.find(({ status }) => status?.phase === 'Running')
  if (pod !== undefined)
    return { namespace: cluster.namespace, pod: pod.metadata.name, container: containers[component] }
  throw new ComponentMissingError(
    component,
    node,
    `see why it does not run there: kubectl -n ${cluster.namespace} get pods -o wide -l app=${component}`,
  )
}
