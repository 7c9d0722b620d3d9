import { vipAnnotations, vipLabel } from '@kube-ovn/annotations'
import { namespaces, nodes, pods, type Pod } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource, Store } from '@kube-ovn/kube'
import { ipPoolResource, ipResource, subnetResource, vipResource, vpcResource } from '@kube-ovn/kube-api'
import type { Ip, IpPool, Vip } from '@kube-ovn/kube-api'
import { trimNode, trimPod } from './trim.ts'
import { storeIndex } from './world.ts'

/** What the features decide by: resources to watch, what to keep of them, and by what they are looked up. */
export const watched = {
  pods: {
    resource: pods,
    trim: trimPod,
    indexes: {
      [storeIndex.podsBySharedVip]: (pod: Pod) => vipAnnotations.shared.read(pod.metadata.annotations) ?? [],
      [storeIndex.podsByBorrowedVip]: ({ metadata: { annotations } }: Pod) => {
        const name = vipAnnotations.borrowed.read(annotations)
        return name === undefined ? [] : [name]
      },
    },
  },
  nodes: { resource: nodes, trim: trimNode },
  namespaces: { resource: namespaces },
  subnets: { resource: subnetResource },
  vpcs: { resource: vpcResource },
  ips: {
    resource: ipResource,
    indexes: {
      [storeIndex.ipsBySubnet]: (ip: Ip) => [ip.spec?.subnet ?? ''],
      [storeIndex.ipsByPod]: podOf,
    },
  },
  ipPools: {
    resource: ipPoolResource,
    indexes: { [storeIndex.poolsBySubnet]: (pool: IpPool) => [pool.spec?.subnet ?? ''] },
  },
  vips: {
    resource: vipResource,
    indexes: { [storeIndex.vipsBySubnet]: (vip: Vip) => subnetsOf(vip) },
  },
} as const

/** The stores of all that is watched. */
export type WatchedStores = {
  readonly [N in keyof typeof watched]: (typeof watched)[N]['resource'] extends Resource<
    infer T extends KubeObject
  >
    ? Store<T>
    : never
}

function podOf(ip: Ip): readonly string[] {
  const { namespace = '', podName = '' } = ip.spec ?? {}
  return namespace === '' ? [] : [`${namespace}/${podName}`]
}

/** Where a Vip has its addresses, and where it says to have them: once it has some, these do not follow an edit. */
function subnetsOf({ metadata, spec }: Vip): readonly string[] {
  const labelled = metadata.labels?.[vipLabel.subnet]
  return [...new Set([spec?.subnet ?? '', ...(labelled === undefined ? [] : [labelled])])]
}
