import { pingAll } from '../probe/ping.ts'
import { fetchAll } from '../probe/tcp.ts'
import { addressesOfPod, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { countRow, familyOf, placeOf, type Check, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** What one pod reached of another. */
interface Attempt {
  readonly kind: string
  readonly isOk: boolean
}

/** Every pair of the six pods of example `01-two-subnets`, in both directions. */
export const podToPod: Check = {
  name: 'pod to pod',
  async run(cluster) {
    const pods = await sixPods(cluster)
    const attempts = (await Promise.all(pods.map((source) => attemptAll(cluster, source, pods)))).flat()
    const kinds = [...new Set(attempts.map(({ kind }) => kind))].sort()
    return kinds.map((kind) => summarize(kind, attempts))
  },
}

/** The pods of example `01-two-subnets`, three in each of two subnets. */
export async function sixPods(cluster: Cluster): Promise<readonly PodObject[]> {
  const groups = await Promise.all([
    untilPodsReady(cluster.api, 'shop', 'app=web', 3),
    untilPodsReady(cluster.api, 'stock', 'app=db', 3),
  ])
  return groups.flat()
}

async function attemptAll(
  cluster: Cluster,
  source: PodObject,
  pods: readonly PodObject[],
): Promise<Attempt[]> {
  const place = placeOf(cluster, source)
  const others = pods.filter((pod) => pod !== source)
  const addresses = others.flatMap(addressesOfPod)
  const [pinged, fetched] = await Promise.all([pingAll(place, addresses), fetchAll(place, addresses, 8080)])
  return others.flatMap((target) => {
    const where = target.spec.nodeName === source.spec.nodeName ? 'same node' : 'across nodes'
    return addressesOfPod(target).flatMap((address) => [
      { kind: `ping ${familyOf(address)} ${where}`, isOk: pinged.has(address) },
      { kind: `TCP ${familyOf(address)} ${where}`, isOk: fetched.has(address) },
    ])
  })
}

function summarize(kind: string, attempts: readonly Attempt[]): CheckRow {
  const own = attempts.filter((attempt) => attempt.kind === kind)
  return countRow(kind, own.filter(({ isOk }) => isOk).length, own.length)
}
