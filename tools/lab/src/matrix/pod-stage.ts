import { MatrixError } from '../errors.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'
import { kubectlWithInput } from '../kubernetes/kubectl.ts'
import { addressesOfPod, isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import { type Outcome, parseOutcomes } from '../probe/question.ts'
import type { Party } from './declaration.ts'
import { findService, nobody, type Endpoint } from './endpoints.ts'
import { listenerPort, type Cell } from './plan.ts'
import { probeLabel, probeNamespace } from './probe-pods.ts'
import { questionOf, type MatrixStage } from './stage.ts'

/** A cluster of whatever kind in which pods of the probe run. */
interface ProbedCluster {
  readonly api: ApiClient
  readonly kubeconfig: string
}

interface StatusObject extends ApiObject {
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean }
  readonly status?: { readonly hostIPs?: readonly { readonly ip: string }[] }
}

/**
 * A cluster in whose pods the probe asks and listens: those that `deployProbes` made, which are also who stands for the nodes.
 *
 * Other pods, Services and addresses can be targets.
 */
export function podStage(cluster: ProbedCluster): MatrixStage {
  return {
    resolve: (party) => resolveParty(cluster.api, party),
    async ask(cells, timeoutMs) {
      const outcomes: Outcome[] = Array.from({ length: cells.length })
      const bySource = Map.groupBy(cells.entries(), ([, cell]) => cell.from.name)
      await Promise.all(
        [...bySource.values()].map(async (own) => {
          const answers = await askFrom(
            cluster,
            own.map(([, cell]) => cell),
            timeoutMs,
          )
          for (const [position, [index]] of own.entries()) {
            const answer = answers[position]
            if (answer !== undefined) outcomes[index] = answer
          }
        }),
      )
      return outcomes
    },
  }
}

/** Has the probe of one pod ask all that begins at it. */
async function askFrom(
  cluster: ProbedCluster,
  cells: readonly Cell[],
  timeoutMs: number,
): Promise<readonly Outcome[]> {
  const from = cells[0]?.from
  if (from?.pod === undefined) {
    const cure = 'pods of the probe, or nodes; others can only be reached'
    const value = from?.name ?? ''
    throw new MatrixError('a connectivity matrix is not understood', { field: 'from', value, cure })
  }
  const questions = cells.map((cell) => questionOf(cell, cell.to.probePort === cell.port, timeoutMs))
  const { namespace, name } = from.pod
  const command = ['exec', '-i', '-n', namespace, name, '--', 'kube-ovn-probe', 'ask']
  return parseOutcomes(await kubectlWithInput(cluster, JSON.stringify(questions), ...command))
}

async function resolveParty(api: ApiClient, party: Party): Promise<readonly Endpoint[]> {
  if (party === 'outside') {
    const cure = 'an address that is outside of the cluster; only a lab has an outside host'
    throw new MatrixError('a connectivity matrix names nobody', { field: 'to', value: party, cure })
  }
  if (party === 'nodes') {
    const pods = await listPods(api, probeNamespace, `app=${probeLabel.nodes}`)
    return pods.map((pod) => ({ ...podEndpoint(pod), name: pod.spec.nodeName ?? '' }))
  }
  if ('service' in party) return [await serviceEndpoint(api, party)]
  if ('address' in party)
    return [
      { name: party.name ?? party.address, addresses: [party.address], netns: undefined, nodeAddresses: [] },
    ]
  return (await listPods(api, party.namespace, party.pods)).map(podEndpoint)
}

async function listPods(
  api: ApiClient,
  namespace: string,
  selector: string,
): Promise<readonly (PodObject & StatusObject)[]> {
  const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`
  const path = `/api/v1/namespaces/${namespace}/pods${query}`
  const pods = (await api.list<PodObject & StatusObject>(path)).filter(isPodReady)
  if (pods.length === 0) throw nobody('pods', `${namespace} ${selector}`)
  return pods
}

function podEndpoint(pod: PodObject & StatusObject): Endpoint {
  const { namespace = '', name } = pod.metadata
  const endpoint = {
    name: `${namespace}/${name}`,
    addresses: addressesOfPod(pod),
    netns: undefined,
    nodeAddresses: (pod.status?.hostIPs ?? []).map(({ ip }) => ip),
  }
  return isProbe(pod) ? { ...endpoint, pod: { namespace, name }, probePort: listenerPort } : endpoint
}

function isProbe({ metadata }: PodObject): boolean {
  return Object.values<string | undefined>(probeLabel).includes(metadata.labels?.['app'])
}

async function serviceEndpoint(
  api: ApiClient,
  party: Extract<Party, { service: string }>,
): Promise<Endpoint> {
  const { name, addresses, port, ends } = await findService(api, party)
  const pods = await api.list<PodObject>(`/api/v1/namespaces/${party.namespace}/pods`)
  const probes = new Set(pods.filter(isProbe).map(({ metadata }) => metadata.uid))
  const isOfProbes = ends.length > 0 && ends.every((end) => end.port === listenerPort && probes.has(end.uid))
  const endpoint = { name, addresses, netns: undefined, nodeAddresses: [], port }
  return isOfProbes ? { ...endpoint, probePort: port } : endpoint
}
