import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import { insidePodContainer, runAt, type Place } from '../namespaces.ts'

/** The containers of Open vSwitch, by node. */
export async function vswitchPlaces(cluster: Cluster): Promise<ReadonlyMap<string, Place>> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3Dovs`
  const pods = await cluster.api.list<PodObject>(path)
  return new Map(
    pods.flatMap(({ metadata, spec }) => {
      const place = insidePodContainer(metadata.uid ?? '', 'ovs-vswitchd')
      return place === undefined || spec.nodeName === undefined ? [] : [[spec.nodeName, place]]
    }),
  )
}

/** Where the tunnels of each node lead to: addresses, in order. */
export async function tunnelEnds(cluster: Cluster): Promise<ReadonlyMap<string, readonly string[]>> {
  const find = [
    'ovs-vsctl',
    '--timeout=10',
    '--bare',
    '--columns=options',
    'find',
    'Interface',
    'type=geneve',
  ]
  const ends = [...(await vswitchPlaces(cluster))].map(async ([node, place]) => {
    const text = await runAt(place, find)
    const addresses = [...text.matchAll(/remote_ip="?([^\s"]+)/g)].map(([, address = '']) => address)
    return [node, [...new Set(addresses)].sort()] as const
  })
  return new Map(await Promise.all(ends))
}
