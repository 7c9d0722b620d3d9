export { needsPort } from './alive.ts'
export { holderKey, holderOf, ownerOfHolder, ownersOfKey, podTypeOf, type Holder } from './holder.ts'
export { isLost, lostInMs } from './lost.ts'
export { inTurn, isTarget, isTargetOf } from './machine-pods.ts'
export { isPrimary, nicsOf, primaryNic, type PodNic } from './nic.ts'
export {
  PodPoolEntryMissingError,
  PodPoolUnavailableError,
  PodProviderUnboundError,
  PodSubnetUnavailableError,
  ReservationGivenUpError,
  ReservationUnavailableError,
} from './port-errors.ts'
export { portHolder } from './port-holder.ts'
export { readPortOptions, type PortOptions } from './port-options.ts'
export { portsOn } from './ports-on.ts'
export {
  isKeptReservation,
  lacksFamily,
  observeReservations,
  reserve,
  type Reservation,
} from './reservation.ts'
export { keptNics, type KeptNic } from './sticky.ts'
