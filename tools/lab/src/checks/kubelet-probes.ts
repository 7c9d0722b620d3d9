import type { Cluster } from '../cluster/cluster.ts'
import { ofStack } from '../cluster/topology.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { applyAll, deleteAll } from '../kubernetes/manifests.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, isPodReady, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { countRow, equalRow, happensRow, type Check, type CheckRow } from './check.ts'

/** Tenants have the same addresses; kubelets tell their pods apart by ports. */
const tenants = [
  { name: 'crimson', http: 8080, tcp: 9080 },
  { name: 'azure', http: 8081, tcp: 9081 },
] as const
type Tenant = (typeof tenants)[number]

const tier = 'probed'

/**
 * Two VPCs with one prefix, and on each node a pod of each at the same address: its kubelet finds it ready over the network, by HTTP and by TCP, and
 * notices when it is not. It takes the value `features.enableTproxy`.
 */
export const kubeletProbes: Check = {
  name: 'probes of kubelets in VPCs',
  async run(cluster) {
    const objects = tenants.flatMap((tenant) => objectsOf(cluster, tenant))
    await applyAll(cluster.api, objects)
    const rows: CheckRow[] = []
    for (const { name } of tenants) {
      const what = `pods of ${name} are ready by HTTP and TCP probes, on each node`
      rows.push(
        await happensRow(what, 'Ready', () =>
          untilPodsReady(cluster.api, name, `tier=${tier}`, cluster.nodes.length),
        ),
      )
    }
    const [crimson, azure] = await Promise.all(tenants.map(({ name }) => podsOf(cluster, name)))
    rows.push(equalRow('both have the same addresses', addressesIn(crimson), addressesIn(azure)))
    if (rows.every(({ isOk }) => isOk)) rows.push(...(await failingRows(cluster)))
    await deleteAll(cluster.api, objects)
    return rows
  },
}

/** Without its page the first tenant's pods fail; whoever has the address in the other VPC does not answer for them. */
async function failingRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const [first, second] = tenants
  for (const { metadata } of await podsOf(cluster, first.name))
    await kubectl(
      cluster,
      ...['exec', '-n', first.name, metadata.name, '-c', 'http', '--', 'rm', '/www/index.html'],
    )
  const what = `kubelets find no pod of ${first.name} ready that has lost its page`
  const failed = await happensRow(what, 'not Ready', () =>
    eventually(what, async () => ((await podsOf(cluster, first.name)).some(isPodReady) ? undefined : true)),
  )
  const others = await podsOf(cluster, second.name)
  return [
    failed,
    countRow(`and those of ${second.name} still`, others.filter(isPodReady).length, others.length),
  ]
}

function podsOf({ api }: Cluster, namespace: string): Promise<readonly PodObject[]> {
  return api.list<PodObject>(`/api/v1/namespaces/${namespace}/pods?labelSelector=tier%3D${tier}`)
}

function addressesIn(pods: readonly PodObject[] = []): string {
  return pods.flatMap(addressesOfPod).toSorted().join(' ')
}

function objectsOf({ nodes, topology: { stack } }: Cluster, tenant: Tenant): readonly ApiObject[] {
  const { name } = tenant
  const cidrBlock = ofStack(stack, { ipv4: '10.46.0.0/24', ipv6: 'fd00:10:46::/112' }).join()
  const [apiVersion, metadata] = ['kubeovn.io/v1', { name }]
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata },
    { apiVersion, kind: 'Vpc', metadata, spec: { namespaces: [name] } },
    // No Subnet has the name of a VPC.
    {
      apiVersion,
      kind: 'Subnet',
      metadata: { name: `${tier}-${name}` },
      spec: { vpc: name, namespaces: [name], cidrBlock },
    },
    ...nodes.map((node, index) => {
      const host = 10 + index
      const addresses = ofStack(stack, { ipv4: `10.46.0.${host}`, ipv6: `fd00:10:46::${host}` }).join()
      return probedPod(tenant, node.name, addresses)
    }),
  ] as readonly ApiObject[]
}

function probedPod({ name, http, tcp }: Tenant, nodeName: string, addresses: string): object {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name: `${tier}-${nodeName}`, namespace: name, labels: { tier } },
      annotations: { 'ovn.kubernetes.io/ip_address': addresses },
    },
    spec: {
      ...{ nodeName, terminationGracePeriodSeconds: 0 },
      containers: [
        server('http', http, { httpGet: { path: '/', port: http } }),
        server('tcp', tcp, { tcpSocket: { port: tcp } }),
      ],
    },
  }
}

function server(name: string, port: number, probe: object): object {
  const page = `mkdir -p /www && echo ${name} > /www/index.html && exec busybox httpd -f -p ${port} -h /www`
  return {
    ...{ name, image: 'docker.io/library/busybox:stable', command: ['sh', '-c', page] },
    readinessProbe: { ...probe, periodSeconds: 1, failureThreshold: 2 },
    livenessProbe: { tcpSocket: { port }, periodSeconds: 5, failureThreshold: 6 },
  }
}
