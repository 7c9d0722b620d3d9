import { switchedOn } from '@kube-ovn/process'

export const podPortFlags = {
  /** While a machine moves, its port is on both nodes, and traffic follows at the machine's first word from the new one. */
  enableLiveMigrationOptimize: switchedOn(true, 'Lead traffic to both nodes while a virtual machine moves.'),
} as const
