import { defaultRoute, logicalRouter } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { familiesOf } from '@kube-ovn/domains-control/topology'
import type { ControlFeature } from '@kube-ovn/domains-control'

interface DefaultRouteSnapshot {
  readonly router: string
  /** Gateways of the nodes' switch, by which the router reaches every node. Absent until it is in effect. */
  readonly nextHops: readonly { readonly family: 4 | 6; readonly address: string }[] | undefined
}

/** Leads what no subnet of the default VPC is the destination of towards the nodes. */
export const nodeDefaultRoute: ControlFeature<string, DefaultRouteSnapshot> = {
  name: 'default-route',
  kinds: [defaultRoute],
  memberships: [{ kind: logicalRouter.name, column: 'static_routes' }],
  triggers: [],
  initialKeys: ({ settings }) => [settings.clusterRouter],
  observe: (router, world) => {
    if (router !== world.settings.clusterRouter) return undefined
    const join = world.networks.get(world.settings.nodeSwitch.name)
    const nextHops = join === undefined ? undefined : familiesOf(join)
    return { router, nextHops: nextHops?.map(({ family, gateway }) => ({ family, address: gateway })) }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredDefaultRoutes(snapshot)),
}

/**
 * Computes one default route per family.
 *
 * @see ovn-nb(5), Logical_Router_Static_Route
 */
export function desiredDefaultRoutes({ router, nextHops }: DefaultRouteSnapshot): Desired {
  if (nextHops === undefined) return { ...nothing, hold: true }
  return {
    ...nothing,
    rows: nextHops.map(({ family, address }) => ({
      kind: defaultRoute,
      id: `${router}/${family}`,
      columns: {
        // Set although it is the default: upstream compares it literally.
        policy: 'dst-ip',
        ip_prefix: family === 4 ? '0.0.0.0/0' : '::/0',
        nexthop: address,
        route_table: '',
        external_ids: externalIds({}),
      },
    })),
    members: nextHops.map(({ family }) =>
      memberOf(ref(logicalRouter, router), 'static_routes', ref(defaultRoute, `${router}/${family}`)),
    ),
  }
}
