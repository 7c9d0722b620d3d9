import { deleteAll } from '../kubernetes/manifests.ts'
import { isPodReady } from '../kubernetes/workloads.ts'
import { runMatrix } from '../matrix/run-matrix.ts'
import { countRow, happensRow, type Check, type CheckRow } from './check.ts'
import { differingPairs, sixPods } from './pod-to-pod.ts'
import { eventually } from '../kubernetes/wait.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import type { MatrixRuleInput } from '../matrix/declaration.ts'

const shop: MatrixRuleInput['from'] = [{ namespace: 'shop', pods: 'app=web' }]
const stock: MatrixRuleInput['from'] = [{ namespace: 'stock', pods: 'app=db' }]

/** What the pods serve; nothing else answers there. */
const port = 8080

interface PolicyObject extends ApiObject {
  readonly spec: object
}

function policy(name: string, spec: object): PolicyObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace: 'shop' },
    spec: { podSelector: { matchLabels: { app: 'web' } }, ...spec },
  }
}

/** Of everything that comes, HTTP from the namespace `stock` alone. */
const guarded = policy('guarded', {
  policyTypes: ['Ingress'],
  ingress: [
    {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'stock' } } }],
      ports: [{ protocol: 'TCP', port }],
    },
  ],
})

/** The same, and nothing may leave. */
const sealed = policy('guarded', { policyTypes: ['Ingress', 'Egress'] })

/** NetworkPolicies keep off what they do not allow, and nothing else: packets decide, in both families. */
export const networkPolicies: Check = {
  name: 'NetworkPolicies',
  async run(cluster) {
    await sixPods(cluster)
    const served: Pick<MatrixRuleInput, 'by' | 'port'> = { by: ['http'], port }
    const reached = { from: shop, to: stock, ...served }
    const entered = { from: stock, to: shop, ...served }
    const among = { from: shop, to: shop, ...served }
    const blocked = { expect: 'no-reach' } as const
    await cluster.api.apply(guarded)
    const rows = [
      await untilRow(cluster, 'only the namespace that it names comes in', [
        entered,
        { ...among, ...blocked },
        // ICMPv6 passes, as neighbours are found by it.
        { from: stock, to: shop, by: ['ping'], families: ['ipv4'], ...blocked },
      ]),
      await untilRow(cluster, 'what its pods ask for is answered', [reached]),
    ]
    await cluster.api.apply(sealed)
    rows.push(
      await untilRow(cluster, 'sealed off, nothing comes in and nothing leaves', [
        { ...entered, ...blocked },
        { ...reached, ...blocked },
      ]),
      await readyRow(cluster),
    )
    await deleteAll(cluster.api, [guarded])
    rows.push(await untilRow(cluster, 'without it everybody is let in again', [entered, reached, among]))
    return rows
  },
}

/** Claims of a matrix hold, as soon as what was written has come to all nodes. */
function untilRow(cluster: Cluster, name: string, rules: readonly MatrixRuleInput[]): Promise<CheckRow> {
  let differing: readonly string[] = []
  return happensRow(name, 'all as expected', () =>
    eventually(
      name,
      async () => {
        differing = differingPairs((await runMatrix(cluster, rules)).rows)
        return differing.length === 0 ? true : undefined
      },
      { seen: () => differing.join('; ') },
    ),
  )
}

/** Kubelets probe their pods all the time. */
async function readyRow(cluster: Cluster): Promise<CheckRow> {
  const pods = await sixPods(cluster)
  const web = pods.filter(({ metadata }) => metadata.namespace === 'shop')
  return countRow('their kubelets find them ready', web.filter(isPodReady).length, web.length)
}
