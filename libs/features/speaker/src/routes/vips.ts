import { bgpAnnotations, vipLabel, type BgpPolicy } from '@kube-ovn/annotations'
import { mostEntries, tryParseIpv4, tryParseIpv6 } from '@kube-ovn/ip'
import { vipType, type Vip } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { readLabelTerm } from '@kube-ovn/label-selector'
import { addressIn, hostPrefix, policyOf, type Tell } from './object.ts'

/** A Vip that is announced by somebody, or that something is wrong with. */
export interface AnnouncedVip {
  readonly subnet: string
  /** `undefined`: nobody can make sense of it, though the addresses are in use. */
  readonly policy: BgpPolicy | undefined
  readonly prefixes: readonly string[]
  /** A Pod that has its addresses is on the own node. */
  isHere: boolean
  /** One is on another node. */
  isElsewhere: boolean
}

/** A Pod as far as Vips go by it. */
export interface VipHolder {
  readonly pod: Pod
  /** Names of the Vips that it shares. */
  readonly shares: readonly string[]
  readonly nics: readonly { readonly subnet: string; readonly prefixes: readonly string[] }[]
}

interface Shared {
  readonly vip: AnnouncedVip
  readonly namespace: string
  readonly labels: readonly (readonly [key: string, value: string])[]
}

/** Vips of one computation, and which Pods have the addresses of those that are announced where these are. */
export class AnnouncedVips {
  readonly #all: AnnouncedVip[] = []
  readonly #shared = new Map<string, Shared>()
  readonly #own = new Map<string, AnnouncedVip>()

  get all(): readonly AnnouncedVip[] {
    return this.#all
  }

  /**
   * Takes a Vip in, if it is to be announced.
   *
   * Without an annotation of its own, that of its Subnet counts where it is `local`; where it is `cluster`, the Subnet's prefix leads to it.
   *
   * @param subnets policies of the Subnets that there are
   */
  add(vip: Vip, subnets: ReadonlyMap<string, { readonly policy: BgpPolicy | undefined }>, tell: Tell): void {
    const { metadata, spec, status } = vip
    if (metadata.deletionTimestamp !== undefined) return
    let isBad = false
    const own = policyOf(vip, (problem) => {
      isBad = true
      tell(problem)
    })
    // Where it has its addresses from, whatever its specification was edited to since.
    const subnet = [metadata.labels?.[vipLabel.subnet] ?? '', spec?.subnet ?? ''].find((name) =>
      subnets.has(name),
    )
    if (subnet === undefined) return
    const inherited = subnets.get(subnet)?.policy === 'local' ? 'local' : undefined
    const policy = isBad ? undefined : (own ?? inherited)
    if (policy === undefined && !isBad) return
    const type = status?.type ?? vipType.plain
    if (policy === 'local' && type !== vipType.plain) {
      const cure = `write true: nobody knows on which node a Vip of type ${type} is`
      if (own === 'local') tell({ field: bgpAnnotations.policy.key, value: own, cure })
      return
    }
    const prefixes = [
      ...addressIn('status.v4ip', status?.v4ip, tryParseIpv4, 'write an IPv4 address', tell),
      ...addressIn('status.v6ip', status?.v6ip, tryParseIpv6, 'write an IPv6 address', tell),
    ].map(hostPrefix)
    // It has none yet.
    if (prefixes.length === 0) return
    const added: AnnouncedVip = { subnet, policy, prefixes, isHere: false, isElsewhere: false }
    this.#all.push(added)
    if (policy !== 'local') return
    for (const prefix of prefixes) this.#own.set(`${subnet} ${prefix}`, added)
    const [namespace = '', labels] = [spec?.namespace, labelsOf(vip, tell)]
    if (namespace !== '' && labels !== undefined)
      this.#shared.set(metadata.name, { vip: added, namespace, labels })
  }

  /** Takes note of where a Pod is, for the Vips whose addresses it has: as its own, or beside it. */
  place({ pod, shares, nics }: VipHolder, isHere: boolean): void {
    const { namespace, labels: given = {} } = pod.metadata
    const found = shares.flatMap((name) => {
      const shared = this.#shared.get(name)
      if (shared === undefined || shared.namespace !== namespace) return []
      const fits = shared.labels.every(([key, value]) => given[key] === value)
      return fits && nics.some(({ subnet }) => subnet === shared.vip.subnet) ? [shared.vip] : []
    })
    if (this.#own.size > 0)
      for (const { subnet, prefixes } of nics)
        for (const prefix of prefixes) {
          const vip = this.#own.get(`${subnet} ${prefix}`)
          if (vip !== undefined) found.push(vip)
        }
    for (const vip of found) {
      if (isHere) vip.isHere = true
      else vip.isElsewhere = true
    }
  }
}

/** Labels of the Pods that share a Vip; `undefined` for what is told of, and then nobody does. */
function labelsOf({ spec }: Vip, tell: Tell): Shared['labels'] | undefined {
  const { selector = [] } = spec ?? {}
  if (selector.length > mostEntries) {
    const [field, value] = ['spec.selector', `${selector.length} entries`]
    tell({ field, value, cure: `write at most ${mostEntries} labels` })
    return undefined
  }
  const labels: (readonly [string, string])[] = []
  for (const text of selector) {
    const term = readLabelTerm(text)
    if (term === undefined) {
      const cure = 'write a label and its value, separated by a colon, like app:web'
      tell({ field: 'spec.selector', value: text, cure })
      return undefined
    }
    labels.push(term)
  }
  return labels
}
