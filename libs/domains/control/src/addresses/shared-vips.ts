import {
  AnnotationInvalidError,
  readSharedVips,
  vipAnnotations,
  type Annotations,
} from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'
import type { Ip } from '@kube-ovn/ip'
import type { ControlWorld } from '../world.ts'
import { vipNic } from './vip-record.ts'

/** A Pod names a Vip that it may not share. It does without. */
class VipNotSharedError extends KubeOvnError<{
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
  const names = readSharedVips(annotations)
  return names.flatMap((name) => {
    const vip = world.vips.get(name)
    const lease = world.ipam.lease(vipNic(name))
    if (vip === undefined || vip.spec?.namespace !== namespace || lease?.subnet !== subnet) return []
    return [lease.v4, lease.v6].filter((address) => address !== undefined)
  })
}

/** How many of them are told: each is an event. */
const mostTold = 8

/** What is wrong with the Vips that a pod names, the first few of them. */
export function unsharableVips(
  namespace: string,
  annotations: Annotations | undefined,
  world: ControlWorld,
): readonly KubeOvnError[] {
  try {
    const names = vipAnnotations.shared.read(annotations) ?? []
    return [...problemsOf(names, namespace, world).take(mostTold)]
  } catch (error) {
    if (error instanceof AnnotationInvalidError) return [error]
    throw error
  }
}

function* problemsOf(
  names: readonly string[],
  namespace: string,
  world: ControlWorld,
): Generator<VipNotSharedError> {
  for (const name of names) {
    const vip = world.vips.get(name)
    if (vip?.spec?.namespace === namespace) continue
    const cure =
      vip === undefined
        ? 'create the Vip, or name one that exists'
        : `name a Vip whose spec.namespace is ${namespace}`
    yield new VipNotSharedError({ vip: name, cure })
  }
}
