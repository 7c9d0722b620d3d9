import { urlHost } from '@kube-ovn/ip'
import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { waitForObjects } from '../kubernetes/wait.ts'
import type { DatabaseRecord } from './database-log.ts'

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs?: readonly string[] }
}

/** Of who leads: their members have a label that the monitor writes when it knows, which may be after everything is ready. */
const ofLeaders = ['ovn-nb', 'ovn-sb', 'ovn-northd']
/** The controller's own, and those of leaders. */
const moving = new Set(['kube-ovn-controller', ...ofLeaders])

interface EndpointSlice extends ApiObject {
  readonly endpoints?: readonly unknown[] | null
}

/** Waits until each Service of a leader has one: from then on they are there, and only move. */
export async function untilLeadersAreTold(cluster: Cluster): Promise<void> {
  await waitForObjects<EndpointSlice, true>(
    cluster.api,
    `/apis/discovery.k8s.io/v1/namespaces/${chartNamespace}/endpointslices`,
    'Services of leaders have endpoints',
    (slices) => (ofLeaders.every((name) => hasEndpoints(slices, name)) ? true : undefined),
  )
}

function hasEndpoints(slices: readonly EndpointSlice[], service: string): boolean {
  return slices.some(
    ({ metadata: { labels }, endpoints }) =>
      labels?.['kubernetes.io/service-name'] === service && (endpoints ?? []).length > 0,
  )
}

/**
 * The cluster IPs of the chart's Services whose endpoints move, as they stand before a port in `vips` (ovn-nb(5), Load_Balancer).
 *
 * These are the nodes on which controllers happen to run, and members that happen to lead. So they follow each that a suite restarts: a write
 * that is right, and not the doing of who was restarted.
 */
export async function movingServiceAddresses(cluster: Cluster): Promise<readonly string[]> {
  const services = await cluster.api.list<ServiceObject>(`/api/v1/namespaces/${chartNamespace}/services`)
  return services
    .filter(({ metadata: { name } }) => moving.has(name))
    .flatMap(({ spec }) => (spec.clusterIPs ?? []).map((address) => urlHost(address)))
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
