import { ofStack } from '../cluster/topology.ts'
import { readExample } from '../kubernetes/manifests.ts'
import { gatewayLabel, labelNodes } from '../kubernetes/node-labels.ts'
import { eventually } from '../kubernetes/wait.ts'
import { fetchText } from '../probe/tcp.ts'
import { addressesOfPod, untilPodsReady } from '../kubernetes/workloads.ts'
import { countRow, equalRow, happensRow, placeOf, type CheckRow } from './check.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import type { Place } from '../namespaces.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** The VLAN of the example. */
export const streetVlan = 300
const namespace = 'arcade'
const door = { ipv4: '10.129.44.200', ipv6: 'fd00:10:128:300::200' }
const rulePath = '/apis/kubeovn.io/v1/router-lb-rules/arcade'

/** Example `33-address-outside`, whose objects are there, and go with the others of the check. */
export function addressOutsideObjects({ topology }: Cluster): readonly ApiObject[] {
  return readExample('33-address-outside', topology.stack)
}

/** An address of a physical network leads to pods of a VPC, by way of the router's gateway node, from outside and from inside. */
export async function addressOutsideRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  await using _gateways = await labelNodes(cluster.api, gatewayLabel, 'true')
  const pods = await untilPodsReady(cluster.api, namespace, 'app=shop', cluster.nodes.length)
  const names = pods.map(({ metadata }) => metadata.name).toSorted()
  const addresses = ofStack(cluster.topology.stack, door)
  const rows = [
    await happensRow('a RouterLBRule says that it is in effect', 'ready', () =>
      eventually('the rule is ready', async () => ((await isReady(cluster)) ? true : undefined)),
    ),
    ...(await Promise.all(
      addresses.map((address) =>
        backendsRow(cluster, `who is outside reaches every pod by ${address}`, address, names),
      ),
    )),
    await insideRow(
      addresses,
      pods.map((pod) => placeOf(cluster, pod)),
    ),
  ]
  await cluster.api.mergePatch(rulePath, {
    spec: { ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] },
  })
  for (const address of addresses)
    rows.push(
      await happensRow(`a rule that is edited moves what ${address} serves`, 'moved', () =>
        eventually('the new port alone', async () => {
          const [before, after] = [await ask(cluster, address, 80), await ask(cluster, address, 81)]
          return before === undefined && after !== undefined ? true : undefined
        }),
      ),
    )
  const [pod] = pods
  const [own] = pod === undefined ? [] : addressesOfPod(pod)
  rows.push(
    equalRow(
      'nobody outside is led to a pod by its own address',
      'nothing',
      (await ask(cluster, own ?? '', 8080)) ?? 'nothing',
    ),
  )
  return rows
}

interface RuleObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function isReady({ api }: Cluster): Promise<boolean> {
  const { status } = await api.call<RuleObject>('GET', rulePath)
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

/** Who answers the outside host: a pod's page is its name. */
function ask({ outside }: Cluster, address: string, port: number): Promise<string | undefined> {
  return fetchText(outside.place, address, port)
}

async function backendsRow(
  cluster: Cluster,
  name: string,
  address: string,
  wanted: readonly string[],
): Promise<CheckRow> {
  const seen = new Set<string>()
  return happensRow(name, wanted.join(' '), () =>
    eventually(name, async () => {
      const page = await ask(cluster, address, 80)
      if (page !== undefined) seen.add(page)
      return [...seen].toSorted().join() === wanted.join() ? true : undefined
    }),
  )
}

async function insideRow(addresses: readonly string[], places: readonly Place[]): Promise<CheckRow> {
  const name = 'pods of the VPC reach it as well'
  const total = addresses.length * places.length
  let answered = 0
  await eventually(name, async () => {
    const pages = await Promise.all(
      places.flatMap((place) => addresses.map((address) => fetchText(place, address, 80))),
    )
    answered = pages.filter((page) => page !== undefined).length
    return answered === total ? true : undefined
  }).catch(() => undefined)
  return countRow(name, answered, total)
}
