import { storeIndex, type ControlWorld } from '@kube-ovn/domains-control'
import { resolvedDomains, type ResolverLabel } from '@kube-ovn/domains-control/policies'
import type { OwnerReference } from '@kube-ovn/kube-api/core'

/** A domain, and the policies that its resolver goes with. */
interface WantedResolver {
  readonly name: string
  readonly domain: string
  readonly owners: readonly OwnerReference[]
}

/** What decides about the resolvers that have one label. */
export interface ResolverSnapshot {
  readonly label: ResolverLabel
  readonly wanted: readonly WantedResolver[]
  /** Names of objects that are to go. */
  readonly surplus: readonly string[]
}

/** What is read of the world. */
export interface ResolverWorld {
  readonly wantedNames: Pick<ControlWorld['wantedNames'], 'find'>
  readonly dnsNameResolvers: Pick<ControlWorld['dnsNameResolvers'], 'find' | 'get'>
}

/** Reads which names are asked for and which resolvers there are for them; nothing when there are neither. */
export function observeResolvers(label: ResolverLabel, world: ResolverWorld): ResolverSnapshot | undefined {
  const domains = Map.groupBy(world.wantedNames.find('label', label), ({ domain }) => domain)
  const made = world.dnsNameResolvers.find(storeIndex.resolversByLabel, label)
  if (domains.size === 0 && made.length === 0) return undefined
  const all = [...resolvedDomains(label, domains.keys())].map(([name, domain]) => ({
    ...{ name, domain },
    owners: (domains.get(domain) ?? []).flatMap(({ owner }) => owner ?? []),
  }))
  const names = new Set(all.map(({ name }) => name))
  // The domain of an object can not be edited: what somebody made of another one under the name goes first.
  const wrong = all.filter(({ name, domain }) => isAbout(world, name, domain) === false)
  return {
    label,
    wanted: all.filter((one) => !wrong.includes(one)),
    surplus: [...wrong, ...made.map(({ metadata }) => metadata)]
      .map(({ name }) => name)
      .filter((name) => !names.has(name) || wrong.some((one) => one.name === name)),
  }
}

/** `undefined` when there is none of the name. */
function isAbout(world: ResolverWorld, name: string, domain: string): boolean | undefined {
  const found = world.dnsNameResolvers.get(name)
  return found === undefined ? undefined : found.spec?.name === domain
}
