import { controllerFinalizer } from '@kube-ovn/annotations'
import { apiVersion, vpcResource } from '@kube-ovn/kube-api'
import { externalId, logicalRouter, overlayCidrs, overlayCidrsAddressSetName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds } from '../rows.ts'

export interface VpcSnapshot {
  readonly name: string
  /** Name of the subnet for pods that are bound to none. */
  readonly defaultSubnet: string
  /** Names of all subnets of the VPC. */
  readonly subnets: readonly string[]
  /** Prefixes of its overlay subnets. */
  readonly overlayCidrs: readonly { readonly family: 4 | 6; readonly cidr: string }[]
}

const families = [4, 6] as const

/**
 * Computes the router of the default VPC and the sets of its overlay prefixes.
 *
 * @see ovn-nb(5), Logical_Router: mac_binding_age_threshold (seconds), dynamic_neigh_routers,
 *   always_learn_from_arp_request
 */
export function desiredVpc(vpc: VpcSnapshot): Desired {
  return {
    ...nothing,
    rows: [
      {
        kind: logicalRouter,
        id: vpc.name,
        columns: {
          name: vpc.name,
          options: {
            mac_binding_age_threshold: '300',
            dynamic_neigh_routers: 'true',
            // Nothing outside OVN speaks on the router's networks, so an ARP request teaches it nothing.
            always_learn_from_arp_request: 'false',
          },
          external_ids: externalIds({}),
        },
      },
      ...families.map((family) => desiredOverlayCidrs(vpc, family)),
    ],
    patches: desiredObjects(vpc),
  }
}

function desiredOverlayCidrs(vpc: VpcSnapshot, family: 4 | 6): OwnedRow {
  return {
    kind: overlayCidrs,
    id: `${vpc.name}/${family}`,
    columns: {
      name: overlayCidrsAddressSetName(vpc.name, family),
      addresses: vpc.overlayCidrs.filter((overlay) => overlay.family === family).map(({ cidr }) => cidr),
      external_ids: externalIds({ [externalId.isOverlayCidrs]: 'true', [externalId.vpc]: vpc.name }),
    },
  }
}

function desiredObjects(vpc: VpcSnapshot): readonly KubePatch[] {
  const finalizers = [controllerFinalizer]
  return [
    {
      resource: vpcResource,
      name: vpc.name,
      merge: { metadata: { finalizers } },
      create: { apiVersion, kind: vpcResource.kind, metadata: { name: vpc.name, finalizers } },
    },
    {
      resource: vpcResource,
      name: vpc.name,
      subresource: 'status',
      merge: {
        status: {
          standby: true,
          default: true,
          defaultLogicalSwitch: vpc.defaultSubnet,
          router: vpc.name,
          subnets: vpc.subnets,
          enableExternal: false,
          enableBfd: false,
        },
      },
    },
  ]
}
