import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { subnetDhcp } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { dhcpIdOf, rowIdOf, subnetBegins, unusable } from '@kube-ovn/domains-control/topology'
import { desiredDhcp } from './desired.ts'
import { observeDhcp, statusField, type DhcpSnapshot } from './snapshot.ts'

/** Answers requests of a subnet's ports by DHCP. */
export const subnetDhcpOptions: ControlFeature<string, DhcpSnapshot | typeof unusable> = {
  name: 'subnet-dhcp',
  kinds: [subnetDhcp],
  rights: [{ resource: subnetResource, subresource: 'status', verbs: ['patch'] }],
  triggers: [
    subnetBegins,
    {
      on: 'object',
      resource: subnetResource,
      // What is written here comes back as it is.
      keys: ({ key, new: current }: ObjectChange<Subnet>, world) => {
        const isWrong = ([4, 6] as const).some((family) => {
          const said = current?.status?.[statusField[family]] ?? ''
          return said !== (rowIdOf(subnetDhcp, dhcpIdOf(key, family), world) ?? '')
        })
        return isWrong ? [key] : []
      },
    },
  ],
  mayOwn: (subnet, { id }) => ([4, 6] as const).some((family) => id === dhcpIdOf(subnet, family)),
  observe: observeDhcp,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredDhcp(snapshot)
  },
}
