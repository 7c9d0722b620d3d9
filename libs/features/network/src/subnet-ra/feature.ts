import { subnetRouterPort } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { subnetBegins, unusable } from '@kube-ovn/domains-control/topology'
import { desiredAdvertising, type AdvertisingSnapshot } from './desired.ts'

/** Has routers send advertisements on subnets with IPv6. */
export const subnetRouterAdvertisements: ControlFeature<string, AdvertisingSnapshot | typeof unusable> = {
  name: 'subnet-ra',
  kinds: [],
  memberships: [
    { kind: subnetRouterPort.name, column: 'ipv6_prefix' },
    { kind: subnetRouterPort.name, column: 'ipv6_ra_configs' },
  ],
  triggers: [subnetBegins],
  observe: observeAdvertising,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredAdvertising(snapshot)
  },
}

/** Reads what is advertised on a subnet; `unusable` while it can not be used, which leaves what it had before. */
function observeAdvertising(
  subnet: string,
  world: ControlWorld,
): AdvertisingSnapshot | typeof unusable | undefined {
  const advertising = world.advertisings.get(subnet)
  if (advertising === undefined || advertising === unusable) return advertising
  const attachment = world.attachments.get(subnet)
  const prefixes = world.prefixes.get(subnet)
  if (attachment === undefined || prefixes === undefined) return unusable
  const { v6 } = prefixes.cidrs
  if (!attachment.isRouted || v6 === undefined) return undefined
  return { subnet, vpc: attachment.vpc, prefixLength: v6.prefixLength, advertising }
}
