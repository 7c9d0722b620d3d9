export { checkMatch } from './check.ts'
export { extentOf, meet, type Extent } from './extent.ts'
export { flowsOf, masksOfRange } from './flows.ts'
export { InvalidMatchError, InvalidMatchNameError, MatchFamilyError } from './errors.ts'
export {
  addressSet,
  and,
  anyIp,
  eq,
  group,
  header,
  inPortGroup,
  ipDestination,
  ipDestinationSet,
  ipSource,
  ipSourceSet,
  ne,
  not,
  or,
  outPortGroup,
  portGroup,
  predicate,
  printMatch,
  transportPort,
  transportPortIn,
  transportPorts,
} from './match.ts'
export type {
  AddressField,
  AddressSetRef,
  HeaderField,
  Match,
  PortField,
  PortGroupRef,
  Transport,
} from './match.ts'
