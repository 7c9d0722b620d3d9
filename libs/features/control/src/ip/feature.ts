import type { ObjectChange } from '@kube-ovn/kube'
import { ipResource, type Ip } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Feature } from '@kube-ovn/reconcile'
import { isReservation } from '../addresses/recorded.ts'
import { reservationProblem } from '../addresses/reservation-problem.ts'
import { problemText } from '../problem-text.ts'
import type { ControlWorld } from '../world.ts'

/**
 * Tells users of IP objects that reserve nothing as they are written. Those that do are of the pod that they name, and
 * the business of its ports.
 */
export const ip: Feature<string, Ip, ControlWorld> = {
  name: 'ip',
  kinds: [],
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
    return object !== undefined && isReservation(object) ? object : undefined
  },
  desired: (_key, object) => (object === undefined ? nothing : desiredReservation(object)),
}

/** Computes the event about a reservation that is none. */
export function desiredReservation(object: Ip): Desired {
  const problem = reservationProblem(object)
  const { name, uid, deletionTimestamp } = object.metadata
  if (problem === undefined || uid === undefined || deletionTimestamp !== undefined) return nothing
  const regarding = { resource: ipResource, name, uid }
  const message = problemText(problem)
  return {
    ...nothing,
    events: [{ regarding, type: 'Warning', reason: 'ReservationInvalid', message }],
    problem,
  }
}
