import type { ObjectChange } from '@kube-ovn/kube'
import type { ControlWorld } from '../world.ts'
import { emptyPlan, type VpcPlan } from './vpc-plans.ts'
import { isDefaultVpc } from './vpc-tenancy.ts'

/** The router is not ours, or somebody took its Vpc away and left subnets on it: what there is stays. */
export const kept = 'kept'

/**
 * Observes what is made of a part of a Vpc: nothing when the Vpc is gone, or is being deleted and has no subnets any more.
 */
export function partOfVpc<T>(
  name: string,
  world: Pick<ControlWorld, 'vpcPlans' | 'networks' | 'settings'>,
  read: (plan: VpcPlan) => T,
): T | typeof kept | undefined {
  const found = world.vpcPlans.get(name)
  const plan = found ?? (isDefaultVpc(name, world.settings) ? emptyPlan(name) : undefined)
  if (plan?.isExternal === true) return kept
  const isEnding = plan === undefined || plan.isDeleting
  const hasSubnets = isEnding && world.networks.keys('vpc', name).length > 0
  if (plan === undefined) return hasSubnets ? kept : undefined
  return isEnding && !hasSubnets ? undefined : read(plan)
}

/** The key of a Vpc that comes or goes. Whoever reads what is made of it is woken by everything else. */
export function comesOrGoes(change: ObjectChange): readonly string[] {
  return change.old === undefined || change.new === undefined ? [change.key] : []
}
