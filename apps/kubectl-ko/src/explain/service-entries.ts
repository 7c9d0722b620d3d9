import { serviceAnnotations } from '@kube-ovn/annotations'
import { endpointText, frontendsOf, ingressOf, protocolOf } from '@kube-ovn/endpoints'
import { formatIp } from '@kube-ovn/ip'
import { services, type Service } from '@kube-ovn/kube'
import { backendsVariable } from '@kube-ovn/ovn-names'
import type { Cluster, PodContainer } from '../cluster.ts'
import { readAll } from '../facts.ts'
import { readRows, type Row } from '../rows.ts'
import { idsOf, type ExplainedRow } from './northbound.ts'

const owningFeature = 'load-balancer'
const columns = ['_uuid', 'name', 'protocol', 'vips', 'external_ids'] as const
const entryPrefix = 'vips '

/** What a Service has in load balancers that all Services of its VPC share, an entry each; none of a Service that is not there. */
export async function sharedEntries(
  cluster: Cluster,
  northbound: PodContainer,
  key: string,
): Promise<readonly ExplainedRow[]> {
  const [namespace = '', name = ''] = key.split('/')
  const [service, rows] = await Promise.all([
    cluster.client.get(services, { namespace, name }),
    readRows(cluster, northbound, 'nb', 'Load_Balancer', columns),
  ])
  return service === undefined ? [] : rows.flatMap((row) => entriesIn(row, service))
}

/** What Services have in the load balancers that a flow was made of, of which the flow is about. */
export async function entriesOfFlow(
  cluster: Cluster,
  northbound: PodContainer,
  made: readonly ExplainedRow[],
  flow: string,
): Promise<readonly ExplainedRow[]> {
  const shared = made.filter(({ owner }) => owner.startsWith(`${owningFeature}/`))
  if (shared.length === 0) return []
  const ids = new Set(shared.map(({ row }) => row))
  const [all, rows] = await Promise.all([
    readAll(cluster, services),
    readRows(cluster, northbound, 'nb', 'Load_Balancer', columns),
  ])
  return rows
    .filter((row) => ids.has(String(row['_uuid'])))
    .flatMap((row) => all.flatMap((service) => entriesIn(row, service)))
    .filter(({ id }) => isAbout(flow, id.slice(entryPrefix.length)))
}

/** Whether the text of a flow has the address of an entry, and its port where it has any. */
export function isAbout(flow: string, entry: string): boolean {
  const [, address = '', port = ''] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(entry) ?? []
  const words = flow.split(/[\s;,"()[\]]+/)
  const ports = [...flow.matchAll(/(?:\.dst ==|reg2\[0\.\.15\] ==?) (\d+)(?![\d.])/g)].map(([, text]) => text)
  return words.includes(address) && (ports.length === 0 || ports.includes(port))
}

/** Those of a Service in one load balancer; several Services of a VPC that want one address are told apart by nobody. */
export function entriesIn(row: Row, service: Service): readonly ExplainedRow[] {
  const { namespace = '', name, annotations } = service.metadata
  const vpc = serviceAnnotations.vpc.read(annotations)
  if (vpc === undefined || idsOf(row).get('owner') !== `${owningFeature}/${vpc}`) return []
  // Of TCP it says nothing.
  const protocol = typeof row['protocol'] === 'string' && row['protocol'] !== '' ? row['protocol'] : 'tcp'
  const wanted = new Set(keysOf(service, protocol))
  return (row['vips'] as readonly (readonly [string, string])[]).flatMap(([entry, backends]) =>
    wanted.has(entry)
      ? [
          {
            ...{ table: 'Load_Balancer', row: String(row['_uuid']), name: String(row['name']) },
            ...{ owner: `service/${namespace}/${name}`, id: `${entryPrefix}${entry}`, rule: '' },
            content: `${entry} to ${backends}`,
          },
        ]
      : [],
  )
}

/** As the column `vips` names entries: by the address, or by a variable that has one of IPv6. */
function keysOf(service: Service, wanted: string): readonly string[] {
  const { namespace = '', name } = service.metadata
  const addresses = [...frontendsOf(service), ...ingressOf(service)].map((ip) => formatIp(ip))
  return (service.spec?.ports ?? []).flatMap((one) => {
    const { port } = one
    const protocol = protocolOf(one)
    if (protocol !== wanted) return []
    return addresses.flatMap((address) => [
      endpointText(address, port),
      `^${backendsVariable({ namespace, service: name, address, port, protocol })}.vip:${port}`,
    ])
  })
}
