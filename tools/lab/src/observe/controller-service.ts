import { urlHost } from '@kube-ovn/ip'
import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import type { DatabaseRecord } from './database-log.ts'

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs?: readonly string[] }
}

/**
 * The cluster IPs of the controller's own Service, as they stand before a port in `vips` (ovn-nb(5), Load_Balancer).
 *
 * Its endpoints are the nodes on which controllers happen to run, so it follows each controller that a suite restarts: a write that is right,
 * and not the restarted controller's doing.
 */
export async function controllerServiceAddresses(cluster: Cluster): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${chartNamespace}/services?fieldSelector=metadata.name%3Dkube-ovn-controller`
  const services = await cluster.api.list<ServiceObject>(path)
  return services.flatMap(({ spec }) => (spec.clusterIPs ?? []).map((address) => urlHost(address)))
}

/** Whether a key of `vips` is one of these addresses with a port. */
export function isVipOf(addresses: readonly string[], vip: string): boolean {
  return addresses.includes(vip.slice(0, vip.lastIndexOf(':')))
}

/** Says whether a transaction changed nothing but entries of load balancers for these addresses. */
export function isOnlyAbout(addresses: readonly string[], record: DatabaseRecord): boolean {
  return Object.entries(record).every(
    ([table, rows]) =>
      table.startsWith('_') ||
      (table === 'Load_Balancer' && Object.values(rows).every((row) => row !== null && isEntriesOf(row))),
  )

  function isEntriesOf(row: Readonly<Record<string, unknown>>): boolean {
    return Object.entries(row).every(([column, value]) => {
      const [kind, pairs] = Array.isArray(value) ? (value as readonly unknown[]) : []
      return (
        column === 'vips' &&
        kind === 'map' &&
        (pairs as readonly (readonly [string, string])[]).every(([vip]) => isVipOf(addresses, vip))
      )
    })
  }
}
