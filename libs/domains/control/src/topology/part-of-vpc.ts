import type { ObjectChange } from '@kube-ovn/kube'
import type { ControlWorld } from '../world.ts'
import { isDefaultVpc } from './vpc-tenancy.ts'

/** The router is not ours, or somebody took its Vpc away and left subnets on it: what there is stays. */
export const kept = 'kept'

/**
 * Observes what is made of a part of a Vpc: nothing when the Vpc is gone, or is being deleted and has no subnets any more.
 *
 * @param read reads the aspect that the part goes by, of a router that is ours
 */
export function partOfVpc<T>(
  name: string,
  world: Pick<ControlWorld, 'routers' | 'attachments' | 'settings'>,
  read: () => T,
): T | typeof kept | undefined {
  const router = world.routers.get(name)
  if (router?.isExternal === true) return kept
  if (router === undefined ? isDefaultVpc(name, world.settings) : !router.isDeleting) return read()
  const hasSubnets = world.attachments.keys('vpc', name).length > 0
  if (router === undefined) return hasSubnets ? kept : undefined
  return hasSubnets ? read() : undefined
}

/** The key of a Vpc that comes or goes. Whoever reads what is made of it is woken by everything else. */
export function comesOrGoes(change: ObjectChange): readonly string[] {
  return change.old === undefined || change.new === undefined ? [change.key] : []
}
