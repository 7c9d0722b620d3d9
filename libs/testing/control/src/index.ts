export { createInBlue, inBlue, readBlue, startWithBlue } from './blue-subnet.ts'
export { ControlCluster } from './control-cluster.ts'
export { Controller, type ControllerOptions } from './controller.ts'
export { laggingClient } from './lag.ts'
export { createShop } from './shop.ts'
export {
  address,
  addresses,
  dualStack,
  elsewhere,
  poolUsage,
  singleStacks,
  span,
  stacks,
  subnetUsage,
  tiny,
  type Stack,
} from './stacks.ts'
