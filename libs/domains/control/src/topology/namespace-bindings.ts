import { mostEntries } from '@kube-ovn/ip'
import type { IpPool, SubnetSpec } from '@kube-ovn/kube-api'
import { groupTable, rowTable, selectionTable, type ViewOf } from '@kube-ovn/tables'
import { ipPools, namespaces, subnets } from '../sources.ts'
import type { ControlSettings } from '../settings.ts'
import type { WatchedStores } from '../watched-kinds.ts'

/** How a subnet that is not being deleted is bound to namespaces. */
interface ServingSubnet {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly selectors: NonNullable<SubnetSpec['namespaceSelectors']>
}

/** Subnets that give addresses to namespaces, whether or not they are in effect. Those that are being deleted do not. */
export const servingSubnets = rowTable({
  name: 'serving-subnets',
  of: subnets,
  row: ({ metadata, spec }): ServingSubnet | undefined =>
    metadata.deletionTimestamp === undefined
      ? {
          name: metadata.name,
          namespaces: spec?.namespaces ?? [],
          selectors: spec?.namespaceSelectors ?? [],
        }
      : undefined,
  indexes: {
    name: ({ name }: ServingSubnet) => [name],
    namespace: ({ namespaces }: ServingSubnet) => namespaces,
  },
})

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

/** Names of the subnets and IPPools that a namespace is bound to, sorted. */
interface NamespaceBinding {
  readonly subnets: readonly string[]
  readonly pools: readonly string[]
}

/**
 * What each namespace is bound to.
 *
 * A subnet is bound by name (`spec.namespaces`) or by label (`spec.namespaceSelectors`), an IPPool by name.
 */
export const namespaceBindings = rowTable({
  name: 'namespace-bindings',
  of: namespaces,
  reads: { servingSubnets, selectedNamespaces, selectorsOfSubnets, servingPools },
  row: (_namespace, views, name): NamespaceBinding => {
    const byName = views.servingSubnets.keys('namespace', name)
    const byLabel = (views.selectedNamespaces.get(name) ?? []).flatMap(
      (selector) => views.selectorsOfSubnets.get(selector)?.subnet ?? [],
    )
    return {
      subnets: [...new Set([...byName, ...byLabel])].sort(),
      pools: views.servingPools.keys('namespace', name),
    }
  },
})

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

interface Serving extends Pick<WatchedStores, 'subnets'> {
  readonly servingSubnets: ViewOf<typeof servingSubnets>
}

/** A subnet that is being deleted waits for its last pod, so it takes no new one. */
export function isEnding(subnet: string, { subnets, servingSubnets }: Serving): boolean {
  return servingSubnets.get(subnet) === undefined && subnets.get(subnet) !== undefined
}
