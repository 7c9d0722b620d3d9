import { namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource, Store } from '@kube-ovn/kube'
import { ipResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import { trimNode, trimPod } from './trim.ts'
import { storeIndex } from './world.ts'

/** What the features decide by: resources to watch, what to keep of them, and by what they are looked up. */
export const watched = {
  pods: { resource: pods, trim: trimPod },
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
