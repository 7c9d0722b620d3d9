import { needsPort, storeIndex } from '@kube-ovn/features-control'
import { podAnnotations } from '@kube-ovn/annotations'
import { Informer, namespaces, nodes, pods } from '@kube-ovn/kube'
import type { KubeClient, Pod } from '@kube-ovn/kube'
import { ipResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { trimNode, trimPod } from './trim.ts'

/** Watches what the features decide by, indexed by what they look up. */
export function createInformers(client: KubeClient, logger: Logger) {
  const common = { client, clock: systemClock, logger }
  return {
    pods: new Informer({
      ...common,
      resource: pods,
      trim: trimPod,
      indexes: {
        [storeIndex.podsByNode]: (pod) => [pod.spec?.nodeName ?? ''],
        [storeIndex.podsWaiting]: (pod) => (isWaiting(pod) ? ['true'] : []),
      },
    }),
    nodes: new Informer({ ...common, resource: nodes, trim: trimNode }),
    namespaces: new Informer({ ...common, resource: namespaces }),
    subnets: new Informer({ ...common, resource: subnetResource }),
    vpcs: new Informer({ ...common, resource: vpcResource }),
    ips: new Informer({
      ...common,
      resource: ipResource,
      indexes: {
        [storeIndex.ipsBySubnet]: (ip) => [ip.spec?.subnet ?? ''],
        [storeIndex.ipsByPod]: (ip) => podsOf(ip),
      },
    }),
  }
}

export type Informers = ReturnType<typeof createInformers>

function isWaiting(pod: Pod): boolean {
  return needsPort(pod) && podAnnotations().allocated.read(pod.metadata.annotations) !== true
}

function podsOf(ip: Ip): readonly string[] {
  const { namespace = '', podName = '' } = ip.spec ?? {}
  return namespace === '' ? [] : [`${namespace}/${podName}`]
}
