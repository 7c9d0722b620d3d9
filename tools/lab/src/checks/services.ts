import { applyAll, deleteAll } from '../kubernetes/manifests.ts'
import { eventually } from '../kubernetes/wait.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { findService } from '../matrix/endpoints.ts'
import { runMatrix, type MatrixRow } from '../matrix/run-matrix.ts'
import { happensRow, type Check, type CheckRow } from './check.ts'
import { kindRow, sixPods } from './pod-to-pod.ts'

const party = { namespace: 'shop', service: 'through-ovn' }
const [tcp, udp] = [18_080, 18_081]

/** In front of the pods of `shop`. Its label keeps kube-proxy from it: whoever reaches it is led there by OVN. */
const service: ApiObject & { readonly spec: object } = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: party.service,
    namespace: party.namespace,
    labels: { 'service.kubernetes.io/service-proxy-name': 'none' },
  },
  spec: {
    selector: { app: 'web' },
    ipFamilyPolicy: 'PreferDualStack',
    ports: [
      { name: 'tcp', port: 80, targetPort: tcp },
      { name: 'udp', port: 53, targetPort: udp, protocol: 'UDP' },
    ],
  },
}

/** Who reaches a Service: pods of another subnet, as themselves, and those behind it, which may be led to themselves. */
export const services: Check = {
  name: 'Services without kube-proxy',
  async run(cluster) {
    const pods = await sixPods(cluster)
    const behind = pods.filter(({ metadata }) => metadata.namespace === party.namespace)
    try {
      await applyAll(cluster.api, [service])
      await eventually('the Service has its backends', async () =>
        (await backendsOf(cluster)) >= behind.length ? true : undefined,
      )
      return await matrixRows(cluster)
    } finally {
      await deleteAll(cluster.api, [service])
    }
  },
}

/** None as long as nobody has made the slices. */
async function backendsOf({ api }: Cluster): Promise<number> {
  const { ends, addresses } = await findService(api, { ...party, port: 80 })
  return ends.length / addresses.length
}

async function matrixRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const others = { namespace: 'stock', pods: 'app=db' }
  const own = { namespace: 'shop', pods: 'app=web' }
  const rows: CheckRow[] = []
  for (const [protocol, port] of [
    ['tcp', 80],
    ['udp', 53],
  ] as const) {
    const to = [{ ...party, port }]
    const ask = async (): Promise<readonly MatrixRow[]> => {
      const result = await runMatrix(cluster, [
        { from: [others], to, by: [protocol], expect: { source: 'own' } },
        { from: [own], to, by: [protocol] },
      ])
      return result.rows
    }
    // Flows follow rows within a moment.
    let last: readonly MatrixRow[] = []
    const settled = await happensRow(`${protocol} from every pod`, 'answered', () =>
      eventually(`all pods reach the Service by ${protocol}`, async () => {
        last = await ask()
        return last.every(isAsExpected) ? true : undefined
      }),
    )
    rows.push(settled, ...familyRows(protocol, last))
  }
  return rows
}

function familyRows(protocol: string, rows: readonly MatrixRow[]): readonly CheckRow[] {
  return [...Map.groupBy(rows, ({ family }) => family)].map(([family, some]) =>
    kindRow(`${protocol} ${family === 'ipv4' ? 'IPv4' : 'IPv6'}`, some),
  )
}

function isAsExpected({ verdict }: MatrixRow): boolean {
  return verdict === 'as expected'
}
