import { problemText } from '@kube-ovn/errors'
import type { ObjectChange } from '@kube-ovn/kube'
import { ipResource, type Ip } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { isReservation, reservationProblem, statusAfter } from '@kube-ovn/domains-control/addresses'
import type { ControlFeature } from '@kube-ovn/domains-control'

/** An IP object that a user wrote. */
interface WrittenIp {
  readonly object: Ip
  /** Whether it has a place for the generation that it is about. */
  readonly saysGeneration: boolean
}

/**
 * Tells users of IP objects that reserve nothing as they are written. Those that do are of the pod that they name, and
 * the business of its ports.
 */
export const ip: ControlFeature<string, WrittenIp> = {
  name: 'ip',
  kinds: [],
  rights: [{ resource: ipResource, verbs: ['patch'] }],
  triggers: [
    {
      on: 'object',
      resource: ipResource,
      keys: ({ key, old, new: current }: ObjectChange<Ip>) =>
        [old, current].some((object) => object !== undefined && isReservation(object)) ? [key] : [],
    },
  ],
  observe(name, world) {
    const object = world.ips.get(name)
    if (object === undefined || !isReservation(object)) return undefined
    return { object, saysGeneration: world.definitions.keeps(ipResource, 'observedGeneration') }
  },
  desired: (_key, written) => (written === undefined ? nothing : desiredReservation(written)),
}

/** Computes the event about a reservation that is none. */
export function desiredReservation({ object, saysGeneration }: WrittenIp): Desired {
  const problem = reservationProblem(object)
  const { name, uid, deletionTimestamp } = object.metadata
  if (problem === undefined || uid === undefined || deletionTimestamp !== undefined) return nothing
  const regarding = { resource: ipResource, name, uid }
  const message = problemText(problem)
  return {
    ...nothing,
    patches: saysGeneration ? [{ resource: ipResource, name, merge: statusAfter(object, {}) }] : [],
    events: [{ regarding, type: 'Warning', reason: 'ReservationInvalid', message }],
    problem,
  }
}
