export { checkMatch } from './check.ts'
export { InvalidMatchError, InvalidMatchNameError, MatchFamilyError } from './errors.ts'
export {
  addressSet,
  and,
  anyIp,
  eq,
  inPortGroup,
  ipDestination,
  ipDestinationSet,
  ipSource,
  ipSourceSet,
  not,
  or,
  outPortGroup,
  portGroup,
  printMatch,
} from './match.ts'
export type { AddressField, AddressSetRef, Match, PortField, PortGroupRef } from './match.ts'
