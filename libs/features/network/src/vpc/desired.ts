import { controllerFinalizer } from '@kube-ovn/annotations'
import { listText } from '@kube-ovn/errors'
import { formatIpList } from '@kube-ovn/ip'
import { apiVersion, vpcReason, vpcResource, type Vpc, type VpcStatus } from '@kube-ovn/kube-api'
import {
  bfdPortName,
  externalId,
  logicalRouter,
  overlayCidrs,
  overlayCidrsAddressSetName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, withOurFinalizer, withoutOurFinalizer } from '@kube-ovn/domains-control'
import type { BfdPort, VpcProblem } from '@kube-ovn/domains-control/topology'
import { eventsOf, toldOf, type ToldVpc } from './told.ts'

/** A VPC whose router is not ours to make, or to take away: what there is stays. */
export type ForeignVpc = ToldVpc

export interface VpcSnapshot extends ToldVpc {
  readonly problems: readonly VpcProblem[]
  readonly isDefault: boolean
  readonly isDeleting: boolean
  /** Name of the subnet for pods that are bound to none; absent when there is none. */
  readonly defaultSubnet: string | undefined
  /** Names of all subnets of the VPC. */
  readonly subnets: readonly string[]
  /** Prefixes of its overlay subnets. */
  readonly overlayCidrs: readonly { readonly family: 4 | 6; readonly cidr: string }[]
  /** Whether its router has a port on a physical network, where others speak. */
  readonly hasOutsiders: boolean
  /** VPCs to which it is connected. */
  readonly peers: readonly string[]
  /** External subnets to which it is connected. */
  readonly externals: readonly string[]
  /** Whether its specification names them. */
  readonly namesExternals: boolean
  /** Whether next hops are supervised by BFD. */
  readonly hasBfd: boolean
  /** The port that is but the source of BFD sessions. */
  readonly bfdPort: BfdPort | undefined
  /** Whether no other VPC has address sets of the same names. */
  readonly hasAddressSets: boolean
}

const families = [4, 6] as const

/**
 * Computes the router of a VPC and the sets of its overlay prefixes.
 *
 * @see ovn-nb(5), Logical_Router: mac_binding_age_threshold (seconds), dynamic_neigh_routers,
 *   always_learn_from_arp_request
 */
export function desiredVpc(vpc: VpcSnapshot): Desired {
  if (vpc.isDeleting && vpc.subnets.length === 0) return { ...nothing, patches: finalizerRemoval(vpc) }
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
            // Unless it is connected to others nobody outside OVN speaks on its networks, and an ARP request teaches it nothing.
            always_learn_from_arp_request: isAlone(vpc) ? 'false' : undefined,
          },
          external_ids: externalIds({}),
        },
      },
      ...(vpc.hasAddressSets ? families.map((family) => desiredOverlayCidrs(vpc, family)) : []),
    ],
    patches: desiredObjects(vpc),
    events: eventsOf(told(vpc)),
  }
}

/** What users of a VPC are told for which nothing is made. */
export function desiredForeign(vpc: ForeignVpc): Desired {
  if (vpc.object === undefined) return { ...nothing, hold: true }
  const status = toldOf(vpc)
  return {
    ...nothing,
    hold: true,
    patches: [{ resource: vpcResource, name: vpc.name, subresource: 'status', merge: { status } }],
    events: eventsOf(vpc),
  }
}

/** Says who keeps a deleted VPC from going. */
function told(vpc: VpcSnapshot): ToldVpc {
  if (!vpc.isDeleting) return vpc
  const message = `the VPC has the subnets ${listText(vpc.subnets, ', ')}: delete these first`
  return { ...vpc, inUse: { reason: vpcReason.inUse, message } }
}

function isAlone({ peers, hasOutsiders, externals }: VpcSnapshot): boolean {
  return peers.length === 0 && !hasOutsiders && externals.length === 0
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
  const { name, object, isDefault, isDeleting, defaultSubnet, subnets, peers, externals } = vpc
  const finalizers = [controllerFinalizer]
  const created = { apiVersion, kind: vpcResource.kind, metadata: { name, finalizers } }
  const metadata: KubePatch = {
    resource: vpcResource,
    name,
    merge: { metadata: { finalizers: withOurFinalizer(object?.metadata.finalizers) } },
    ...(isDefault ? { create: created } : {}),
  }
  return [
    // Nobody may add one to what is being deleted.
    ...(isDeleting ? [] : [metadata]),
    {
      resource: vpcResource,
      name,
      subresource: 'status',
      merge: {
        status: {
          standby: true,
          default: isDefault,
          defaultLogicalSwitch: defaultSubnet ?? null,
          router: name,
          subnets,
          vpcPeerings: peers.length > 0 || hasListed(object) ? peers : null,
          enableExternal: externals.length > 0,
          extraExternalSubnets: extrasOf(vpc),
          enableBfd: vpc.hasBfd,
          bfdPort: portStatusOf(vpc),
          ...toldOf(told(vpc)),
        },
      },
    },
  ]
}

/** As upstream, sorted. A list that was there stays, empty if need be. */
function extrasOf({ object, externals, namesExternals }: VpcSnapshot): readonly string[] | null {
  const extras = namesExternals ? [...externals].sort() : []
  return extras.length > 0 || object?.status?.extraExternalSubnets !== undefined ? extras : null
}

function portStatusOf({ name, object, bfdPort }: VpcSnapshot): VpcStatus['bfdPort'] | null | undefined {
  if (bfdPort === undefined) return object?.status?.bfdPort === undefined ? undefined : null
  const { addresses, hosts } = bfdPort
  return { name: bfdPortName(name), ip: formatIpList(addresses), nodes: hosts.map(({ node }) => node) }
}

/** A list that was there stays, empty if need be. */
function hasListed(object: Vpc | undefined): boolean {
  return object?.status?.vpcPeerings !== undefined
}

/** Lets a deleted VPC go. */
function finalizerRemoval({ name, object }: VpcSnapshot): readonly KubePatch[] {
  const finalizers = withoutOurFinalizer(object?.metadata.finalizers)
  return [{ resource: vpcResource, name, merge: { metadata: { finalizers } } }]
}
