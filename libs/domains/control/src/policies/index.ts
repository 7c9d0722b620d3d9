export { isAboutNic, policyPlaces, portPlace, type PolicyPlaces } from './network-policies.ts'
