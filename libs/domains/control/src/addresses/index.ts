export { allocating, Allocation } from './allocation.ts'
export { answeredVips } from './answered-vips.ts'
export { borrow } from './borrowed-vip.ts'
export { countedSubnets, countOf, saysOtherwise, type PublishedCounts } from './count.ts'
export { desiredIpObject, ipObjectRemoval, statusAfter } from './ip-object.ts'
export type { AddressClaim, Ask, Choice } from './placement.ts'
export { portAddresses } from './port-addresses.ts'
export { addressesOf, isReservation, readAddresses, requestOf } from './recorded.ts'
export { ReservationInvalidError, reservationProblem } from './reservation-problem.ts'
export { sharedAddresses, unsharableVips } from './shared-vips.ts'
export {
  addressesOfEip,
  askedSubnetOfEip,
  eipNic,
  eipOwner,
  subnetOfEip,
  writtenTypeOfEip,
} from './eip-record.ts'
export { addressesOfVip, subnetOfVip, vipNic, vipOwner, writtenTypeOfVip } from './vip-record.ts'
export {
  desiredSubnetAddress,
  holdSubnetAddress,
  subnetAddressTriggers,
  type SubnetAddress,
} from './subnet-address.ts'
export { isSubnetOwner, subnetAddressNamespace, subnetOwnerOf } from './subnet-owner.ts'
export { turnsOf } from './turns.ts'
export { anyOpening } from './waiters.ts'
export { writtenMac } from './written-mac.ts'
