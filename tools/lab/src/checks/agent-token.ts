import { chartNamespace } from '../chart.ts'
import { ApiError } from '../errors.ts'
import { ApiClient, type ApiObject } from '../kubernetes/client.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { chassisAnnotation } from '../kubernetes/node-labels.ts'
import { equalRow, firstOf, type Check, type CheckRow } from './check.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'

interface NodeObject extends ApiObject {
  readonly status: { readonly addresses: readonly object[]; readonly conditions: readonly Condition[] }
}

interface Condition {
  readonly type: string
}

interface PolicyObject extends ApiObject {
  readonly status?: { readonly typeChecking?: { readonly expressionWarnings?: readonly object[] } }
}

/** What the token of a node agent is good for, as whoever breaks into one node has it: its own Node's chassis and condition. */
export const agentToken: Check = {
  name: 'token of an agent',
  async run(cluster) {
    const agents = await cluster.api.list<PodObject>(
      `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3Dkube-ovn-cni`,
    )
    const agent = firstOf(agents, 'pod of the agent')
    const path = '/var/run/secrets/kubernetes.io/serviceaccount/token'
    const token = await kubectl(
      cluster,
      ...['exec', '-n', chartNamespace, agent.metadata.name, '-c', 'cni-server', '--', 'cat', path],
    )
    using thief = new ApiClient(cluster.kubeconfig, token.trim())
    const own = agent.spec.nodeName ?? ''
    const other = firstOf(
      cluster.nodes.filter(({ name }) => name !== own),
      'another node',
    )
    return [
      ...(await nodeRows(cluster, thief, other.name, 'another node')),
      ...(await nodeRows(cluster, thief, own, 'its own node')),
      equalRow('its chassis is its own', 'taken', await answerTo(thief, `/api/v1/nodes/${own}`, {})),
      await policyRow(cluster),
    ]
  },
}

/** Each write differs from what is there, so that it does harm where it is taken; the other node's chassis and condition, too. */
async function nodeRows(
  cluster: Cluster,
  thief: ApiClient,
  name: string,
  whose: string,
): Promise<readonly CheckRow[]> {
  const path = `/api/v1/nodes/${name}`
  const { status } = await cluster.api.call<NodeObject>('GET', path)
  const isOwn = whose === 'its own node'
  const condition = {
    type: isOwn ? 'Ready' : 'NetworkUnavailable',
    status: 'Unknown',
    reason: 'Stolen',
    message: 'x',
  }
  const conditions = [...status.conditions.filter(({ type }) => type !== condition.type), condition]
  const addresses = [...status.addresses, { type: 'ExternalIP', address: '192.0.2.1' }]
  const annotation = isOwn ? 'ovn.kubernetes.io/ip_address' : chassisAnnotation
  const writes: readonly (readonly [string, string, object])[] = [
    ['annotations', path, { metadata: { annotations: { [annotation]: 'stolen' } } }],
    // None that some nodes have: writing what is there already would be allowed.
    ['labels', path, { metadata: { labels: { 'example.com/stolen': 'yes' } } }],
    ['taints', path, { spec: { taints: [{ key: 'example.com/stolen', effect: 'NoSchedule' }] } }],
    ['addresses', `${path}/status`, { status: { addresses } }],
    ['conditions', `${path}/status`, { status: { conditions } }],
  ]
  return Promise.all(
    writes.map(async ([what, where, patch]) =>
      equalRow(`${what} of ${whose}`, 'refused', await answerTo(thief, where, patch)),
    ),
  )
}

/** The other way round than for a client of the product: that a write is refused is an answer. */
async function answerTo(client: ApiClient, path: string, patch: object): Promise<string> {
  try {
    await client.mergePatch(path, patch)
    return 'taken'
  } catch (error) {
    if (error instanceof ApiError && error.details.status === 403) return 'refused'
    throw error
  }
}

/** The controller manager has compiled the policies with the types of what they are about. */
async function policyRow(cluster: Cluster): Promise<CheckRow> {
  const policies = await cluster.api.list<PolicyObject>(
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  )
  const warnings = policies.flatMap(({ status }) => status?.typeChecking?.expressionWarnings ?? [])
  return equalRow('the policies fit the types of the API', '[]', JSON.stringify(warnings))
}
