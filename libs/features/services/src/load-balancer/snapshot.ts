import { flagsOf, type ControlWorld } from '@kube-ovn/domains-control'
import { balancerFlags, balancerNames, balancersOf, groupOf } from '@kube-ovn/domains-control/services'
import { isDefaultVpc } from '@kube-ovn/domains-control/topology'
import type { BalancersSnapshot } from './desired.ts'

/** Reads which load balancers a VPC has; nothing once neither its Vpc nor a subnet of it is there. A router of others has none. */
export function observeBalancers(vpc: string, world: ControlWorld): BalancersSnapshot | undefined {
  const { settings } = world
  const router = world.routers.get(vpc)
  const isThere =
    router !== undefined || isDefaultVpc(vpc, settings) || world.attachments.keys('vpc', vpc).length > 0
  if (!isThere) return undefined
  const prefersLocal = flagsOf(balancerFlags, settings).enableOvnLbPreferLocal
  const { name, isThere: hasGroup } = groupOf(vpc, world)
  const group = hasGroup ? name : undefined
  if (!settings.enableLb || router?.isExternal === true)
    return { vpc, names: undefined, balancers: [], prefersLocal, group: undefined }
  return { vpc, names: balancerNames(vpc, world), balancers: balancersOf(vpc, world), prefersLocal, group }
}
