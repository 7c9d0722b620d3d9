import { controllerFinalizer } from '@kube-ovn/annotations'
import { apiVersion, vpcResource, withObservedGeneration, type Vpc } from '@kube-ovn/kube-api'
import type { Ignored } from '@kube-ovn/no-effect'
import { externalId, logicalRouter, overlayCidrs, overlayCidrsAddressSetName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, ignoredEvents, withIgnored, withOurFinalizer } from '@kube-ovn/domains-control'
import type { Observed } from '@kube-ovn/domains-control'

/** A VPC that is not the default one: nothing is made for it, and what upstream made is not collected. */
export interface UnservedVpc extends IgnoredOfVpc {
  readonly object: Vpc
}

interface IgnoredOfVpc {
  readonly name: string
  /** Absent for the default one that has yet to be created. */
  readonly object: Vpc | undefined
  /** Which generation its status is about. */
  readonly observed: Observed
  /** What has no effect. */
  readonly ignored: readonly Ignored[]
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

export interface VpcSnapshot extends IgnoredOfVpc {
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
    events: eventsOf(vpc),
  }
}

/** What users of a VPC are told for which nothing is made. */
export function desiredUnserved(vpc: UnservedVpc): Desired {
  const status = toldOf(vpc)
  return {
    ...nothing,
    hold: true,
    patches: [{ resource: vpcResource, name: vpc.name, subresource: 'status', merge: { status } }],
    events: eventsOf(vpc),
  }
}

/** There is no list of conditions before there is something to tell. */
function toldOf({ object, observed, ignored, now }: IgnoredOfVpc): NonNullable<KubePatch['merge']> {
  const before = object?.status?.conditions ?? []
  const conditions = withObservedGeneration(
    withIgnored(before, ignored, now),
    observed.observedGeneration,
    now,
  )
  if (before.length === 0 && conditions.length === 0) return { ...observed }
  return { ...observed, conditions: conditions.map((condition) => ({ ...condition })) }
}

function eventsOf({ name, object, ignored }: IgnoredOfVpc): readonly KubeEvent[] {
  if (object?.metadata.uid === undefined) return []
  const regarding = { resource: vpcResource, name, uid: object.metadata.uid }
  return ignoredEvents(regarding, object.status?.conditions, ignored)
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
      merge: { metadata: { finalizers: withOurFinalizer(vpc.object?.metadata.finalizers) } },
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
          ...toldOf(vpc),
        },
      },
    },
  ]
}
