import { vipAnnotations, type Annotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'
import type { Ip } from '@kube-ovn/ip'
import type { ControlWorld } from '../world.ts'
import { vipNic } from './vip-record.ts'

/** A Pod names a Vip that it may not share. It does without. */
export class VipNotSharedError extends KubeOvnError<{
  readonly field: string
  readonly vip: string
  readonly cure: string
}> {
  readonly code = 'vip-not-shared'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<VipNotSharedError['details'], 'field'>) {
    super('the Vip is not one that the pod may share', { field: vipAnnotations.shared.key, ...details })
  }
}

/** The addresses on a subnet of the Vips that a pod shares, in the order in which it names them. */
export function sharedAddresses(
  namespace: string,
  annotations: Annotations | undefined,
  subnet: string,
  world: ControlWorld,
): readonly Ip[] {
  const names = vipAnnotations.shared.read(annotations) ?? []
  return names.flatMap((name) => {
    const vip = world.vips.get(name)
    const lease = world.ipam.lease(vipNic(name))
    if (vip === undefined || vip.spec?.namespace !== namespace || lease?.subnet !== subnet) return []
    return [lease.v4, lease.v6].filter((address) => address !== undefined)
  })
}

/** What is wrong with the Vips that a pod names. */
export function unsharableVips(
  namespace: string,
  annotations: Annotations | undefined,
  world: ControlWorld,
): readonly VipNotSharedError[] {
  const names = vipAnnotations.shared.read(annotations) ?? []
  return names.flatMap((name) => {
    const vip = world.vips.get(name)
    if (vip === undefined) {
      return [new VipNotSharedError({ vip: name, cure: 'create the Vip, or name one that exists' })]
    }
    if (vip.spec?.namespace === namespace) return []
    const cure = `name a Vip whose spec.namespace is ${namespace}`
    return [new VipNotSharedError({ vip: name, cure })]
  })
}
