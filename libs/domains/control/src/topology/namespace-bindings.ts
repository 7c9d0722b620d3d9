import { isOvnProvider, primaryProvider } from '@kube-ovn/annotations'
import { mostEntries } from '@kube-ovn/ip'
import { vpcNamed, type IpPool, type SubnetSpec } from '@kube-ovn/kube-api'
import { groupTable, rowTable, selectionTable, type ViewOf } from '@kube-ovn/tables'
import { ipPools, namespaces, settingsOf, settingsTable, subnets } from '../sources.ts'
import type { ControlSettings } from '../settings.ts'
import { layouts, type Layout } from './layouts.ts'
import type { subnetLives } from './lives.ts'
import { tenancies } from './vpc-tenancy.ts'

/** How a subnet that is not being deleted is bound to namespaces. */
interface ServingSubnet {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly selectors: NonNullable<SubnetSpec['namespaceSelectors']>
  /** That it is in, or else that its specification names; empty is the default one. Absent for a subnet without a switch. */
  readonly vpc: string | undefined
  /** It serves namespaces of its VPC that are bound to none, unless the VPC names another one. */
  readonly isDefault: boolean
}

/** Subnets that give addresses to namespaces, whether or not they are in effect. Those that are being deleted do not. */
export const servingSubnets = rowTable({
  name: 'serving-subnets',
  of: subnets,
  reads: { layouts },
  row: ({ metadata, spec }, views, name): ServingSubnet | undefined =>
    metadata.deletionTimestamp === undefined
      ? {
          name,
          namespaces: spec?.namespaces ?? [],
          selectors: spec?.namespaceSelectors ?? [],
          vpc: vpcOf(spec, views.layouts.get(name)),
          isDefault: spec?.default === true,
        }
      : undefined,
  indexes: {
    name: ({ name }: ServingSubnet) => [name],
    namespace: ({ namespaces }: ServingSubnet) => namespaces,
    default: ({ vpc, isDefault }: ServingSubnet) => (isDefault && vpc !== undefined ? [vpc] : []),
  },
})

/** An edit that is refused, or has yet to take effect, moves the subnet nowhere. */
function vpcOf({ vpc = '', provider = '' }: SubnetSpec = {}, layout: Layout | undefined): string | undefined {
  const { hasSwitch } = layout ?? { hasSwitch: isOvnProvider(provider || primaryProvider) }
  return hasSwitch ? (layout?.vpc ?? vpc) : undefined
}

/** A subnet has any number of selectors, of which one is enough. */
const selectorsOfSubnets = groupTable({
  name: 'namespace-selectors',
  of: servingSubnets,
  by: 'name',
  rows: (members, _views, subnet) =>
    [...members.values()].flatMap(({ selectors }) =>
      selectors.map((selector, place) => [`${subnet}/${place}`, { subnet, selector }] as const),
    ),
})

const selectedNamespaces = selectionTable({
  name: 'selected-namespaces',
  objects: namespaces,
  object: ({ metadata }) => ({ labels: metadata.labels ?? {} }),
  selectors: selectorsOfSubnets,
  selector: ({ selector }) => ({ selector }),
})

interface ServingPool {
  readonly namespaces: readonly string[]
}

const servingPools = rowTable({
  name: 'serving-pools',
  of: ipPools,
  row: (pool): ServingPool => ({ namespaces: namespacesOfPool(pool) }),
  indexes: { namespace: ({ namespaces }: ServingPool) => namespaces },
})

/** Names of the subnets and IPPools that serve a namespace. */
interface NamespaceBinding {
  /** In the order in which they are tried; none stands for the default subnet. */
  readonly subnets: readonly string[]
  readonly pools: readonly string[]
}

const bindingReads = {
  settingsTable,
  tenancies,
  servingSubnets,
  selectedNamespaces,
  selectorsOfSubnets,
  servingPools,
}

type BindingViews = { readonly [N in keyof typeof bindingReads]: ViewOf<(typeof bindingReads)[N]> }

/**
 * What serves each namespace.
 *
 * A subnet is bound by name (`spec.namespaces`) or by label (`spec.namespaceSelectors`), an IPPool by name. Only subnets of the
 * namespace's VPC count: that is the Vpc which lists the namespace, or else the default one. The Vpc's own default subnet comes first.
 */
export const namespaceBindings = rowTable({
  name: 'namespace-bindings',
  of: namespaces,
  reads: bindingReads,
  row: (_namespace, views, name): NamespaceBinding => {
    const byName = views.servingSubnets.keys('namespace', name)
    const byLabel = (views.selectedNamespaces.get(name) ?? []).flatMap(
      (selector) => views.selectorsOfSubnets.get(selector)?.subnet ?? [],
    )
    const bound = [...new Set([...byName, ...byLabel])]
      .filter((subnet) => isOfTenancy(subnet, name, views))
      .sort()
    return {
      subnets: [...new Set([...ownDefault(name, views), ...bound])],
      pools: views.servingPools.keys('namespace', name),
    }
  },
})

interface Tenancies {
  readonly settingsTable: Pick<ViewOf<typeof settingsTable>, 'get'>
  readonly tenancies: Pick<ViewOf<typeof tenancies>, 'get'>
  readonly servingSubnets: Pick<ViewOf<typeof servingSubnets>, 'get'>
}

function isOfTenancy(subnet: string, namespace: string, views: Tenancies): boolean {
  const { vpc } = views.servingSubnets.get(subnet) ?? {}
  const { clusterRouter } = settingsOf(views.settingsTable)
  return (
    vpc === undefined ||
    vpcNamed(vpc, clusterRouter) === vpcNamed(views.tenancies.get(namespace)?.vpc, clusterRouter)
  )
}

/** Pods of the cluster itself stay where nodes reach them. */
const systemNamespace = 'kube-system'

/** The subnet that the namespace's VPC has for all of its namespaces. */
function ownDefault(namespace: string, views: BindingViews): readonly string[] {
  const tenancy = views.tenancies.get(namespace)
  if (tenancy === undefined || namespace === systemNamespace) return []
  const { vpc, defaultSubnet } = tenancy
  if (defaultSubnet === '') return views.servingSubnets.keys('default', vpc).slice(0, 1)
  const isThere = views.servingSubnets.get(defaultSubnet) !== undefined
  return isThere && isOfTenancy(defaultSubnet, namespace, views) ? [defaultSubnet] : []
}

/** Namespaces that a subnet names and does not serve, since they belong to another VPC. */
export function namespacesElsewhere(
  subnet: string,
  { settings, ...views }: Omit<Tenancies, 'settingsTable'> & { readonly settings: ControlSettings },
): readonly string[] {
  const { namespaces = [] } = views.servingSubnets.get(subnet) ?? {}
  const all = { ...views, settingsTable: { get: () => settings } }
  return namespaces.filter((namespace) => !isOfTenancy(subnet, namespace, all))
}

/**
 * Lists the namespaces whose pods take their addresses from an IPPool; none once it is being deleted, nor while there are
 * more than may be.
 */
export function namespacesOfPool({ metadata, spec }: IpPool): readonly string[] {
  const { namespaces = [] } = spec ?? {}
  return metadata.deletionTimestamp === undefined && namespaces.length <= mostEntries ? namespaces : []
}

interface Bindings {
  readonly namespaceBindings: ViewOf<typeof namespaceBindings>
}

/** Gives the names of the subnets that serve a namespace, sorted; the default subnet when none is bound to it. */
export function subnetsOfNamespace(
  namespace: string,
  { namespaceBindings, settings }: Bindings & { readonly settings: Pick<ControlSettings, 'defaultSubnet'> },
): readonly string[] {
  const bound = namespaceBindings.get(namespace)?.subnets ?? []
  return bound.length > 0 ? bound : [settings.defaultSubnet.name]
}

/** Gives the names of the IPPools that are bound to a namespace, sorted. */
export function poolsOfNamespace(namespace: string, { namespaceBindings }: Bindings): readonly string[] {
  return namespaceBindings.get(namespace)?.pools ?? []
}

/** A subnet that is being deleted waits for its last pod, so it takes no new one. */
export function isEnding(
  subnet: string,
  { subnetLives: lives }: { readonly subnetLives: ViewOf<typeof subnetLives> },
): boolean {
  return lives.get(subnet)?.isEnding === true
}
