import { ApiError } from '../errors.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, type PodObject } from '../kubernetes/workloads.ts'
import { insideContainer } from '../namespaces.ts'
import { fetchText } from '../probe/tcp.ts'
import { claimRow, countRow, happensRow, type Check, type CheckRow } from './check.ts'
import { sixPods } from './pod-to-pod.ts'
import { podGroupPath, refusal, refusedPath, runWebhookPod } from './webhook-pod.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** What pods serve in all of them. */
const port = 8080

/** The API server reaches pods, as on any cluster whose control plane is a node: proxies, webhooks, groups of its API. */
export const apiToPods: Check = {
  name: 'API server to pods',
  async run(cluster) {
    const pods = await sixPods(cluster)
    return [
      await machineRow(cluster, pods),
      await podProxyRow(cluster, pods),
      await serviceProxyRow(cluster),
      ...(await webhookRows(cluster)),
    ]
  },
}

/** Over every family: what the API server itself asks is over one. There is a way, which is not to say that no packet is lost. */
async function machineRow(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow> {
  const control = insideContainer(cluster.control)
  const addresses = pods.flatMap((pod) =>
    addressesOfPod(pod).map((address) => ({ address, name: pod.metadata.name })),
  )
  return happensRow('its machine to every address of pods', `${addresses.length} answer`, () =>
    Promise.all(
      addresses.map(({ address, name }) =>
        eventually(`${name} answers at ${address}`, async () =>
          (await fetchText(control, address, port)) === name ? true : undefined,
        ),
      ),
    ),
  )
}

async function podProxyRow(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow> {
  const answers = await Promise.all(
    pods.map(async ({ metadata: { namespace = '', name } }) => {
      const path = `/api/v1/namespaces/${namespace}/pods/http:${name}:${port}/proxy/`
      return (await kubectl(cluster, 'get', '--raw', path)).trim() === name
    }),
  )
  return countRow('proxy of pods', answers.filter(Boolean).length, answers.length)
}

async function serviceProxyRow(cluster: Cluster): Promise<CheckRow> {
  const path = '/api/v1/namespaces/shop/services/http:web:80/proxy/'
  const answer = await kubectl(cluster, 'get', '--raw', path)
  return claimRow('proxy of a Service', answer.startsWith('web-'), 'answered', answer.trim())
}

async function webhookRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  await using _ = await runWebhookPod(cluster)
  return [
    await happensRow('a webhook in a pod is asked', refusal, () =>
      eventually('the webhook refuses', async () =>
        (await answerOf(cluster)).includes(refusal) ? true : undefined,
      ),
    ),
    await happensRow('a pod serves a group of the API', 'served', () =>
      eventually('the group is served', () =>
        cluster.api.call<object>('GET', podGroupPath).catch(() => undefined),
      ),
    ),
  ]
}

/** What is said of a ConfigMap that is only tried. */
async function answerOf(cluster: Cluster): Promise<string> {
  try {
    const metadata = { name: 'tried', labels: { app: 'answers-the-api' } }
    await cluster.api.call('POST', `${refusedPath}?dryRun=All`, { metadata })
    return 'taken'
  } catch (error) {
    if (error instanceof ApiError) return error.details.reason
    throw error
  }
}
