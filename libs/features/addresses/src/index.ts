export { addressSetOf } from './ip-pool/address-set.ts'
export { eipRequest, eipTypeOf } from './ovn-eip/request.ts'
export { labelsOf } from './vip/parents.ts'
export { requestFor, typeOf } from './vip/request.ts'
