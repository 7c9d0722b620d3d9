import { forwarderAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { vipResource, type Vip } from '@kube-ovn/kube-api'
import { deployments, pods, services, type Pod, type Service } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import {
  serviceOfForwarder,
  serviceOfMade,
  servicesByVip,
  serviceWatch,
} from '@kube-ovn/domains-control/services'
import { desiredLbSvc } from './desired.ts'
import { lbSvcFlags } from './flags.ts'
import { deploymentWatch, observeLbSvc, type LbSvcSnapshot } from './snapshot.ts'

/** The value of the chart that is {@link lbSvcFlags}'s switch. */
const onlyWith = 'features.enableLoadbalancerService'

/** Gives Services of type LoadBalancer addresses in attached networks: a Pod each has the address, and forwards. */
export const lbSvc: ControlFeature<string, LbSvcSnapshot> = {
  name: 'lb-svc',
  kinds: [],
  flags: lbSvcFlags,
  watches: [serviceWatch, deploymentWatch],
  rights: [
    // Who may make Pods anywhere may do much: nobody who does not want this gives it.
    { resource: deployments, onlyWith, verbs: ['create', 'patch', 'delete'], writes: 'applied' },
    {
      ...{ resource: services, subresource: 'status', onlyWith, verbs: ['patch'] },
      writes: [
        {
          metadata: { name: 'web', annotations: { [serviceAnnotations.attachmentProvider.key]: 'net.shop' } },
          spec: { type: 'LoadBalancer' },
          status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
        },
      ],
    },
    {
      ...{ resource: pods, verbs: ['patch'] },
      writes: [
        { metadata: { name: 'web', annotations: { [forwarderAnnotations.forwards.key]: '{}' } }, spec: {} },
      ],
    },
    { resource: vipResource, verbs: ['create', 'patch', 'delete'] },
  ],
  triggers: [
    {
      on: 'object',
      resource: services,
      keys: (change: ObjectChange<Service>, world) => new Set([change.key, ...besideOf(change, world)]),
    },
    { on: 'object', resource: deployments, keys: madeFor },
    {
      on: 'object',
      resource: vipResource,
      keys: (change: ObjectChange<Vip>, world) => [...madeFor(change), ...namedBy(change.key, world)],
    },
    {
      on: 'object',
      resource: pods,
      keys: ({ old, new: current }: ObjectChange<Pod>) =>
        new Set([old, current].flatMap((pod) => (pod && serviceOfForwarder(pod)) ?? [])),
    },
  ],
  observe: observeLbSvc,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredLbSvc(snapshot)),
}

/** The Service for which the object was made, or would be by its name. */
function madeFor({ old, new: current }: ObjectChange): readonly string[] {
  const object = current ?? old
  const service = object && serviceOfMade(object)
  return service === undefined ? [] : [service]
}

/** The Services that name the Vip of another one, or that which it named. */
function besideOf({ old, new: current }: ObjectChange<Service>, world: ControlWorld): readonly string[] {
  return [old, current].flatMap((service) => {
    const vip = serviceAnnotations.attachmentVip.read(service?.metadata.annotations) ?? ''
    return vip === '' ? [] : namedBy(vip, world)
  })
}

/** The Services that name a Vip. */
function namedBy(vip: string, world: ControlWorld): readonly string[] {
  return world
    .store(serviceWatch)
    .find(servicesByVip, vip)
    .map(({ metadata: { namespace, name } }) => `${namespace ?? ''}/${name}`)
}
