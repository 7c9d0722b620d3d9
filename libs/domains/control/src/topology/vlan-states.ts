import { hasControllerFinalizer } from '@kube-ovn/annotations'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import type { Refused } from '@kube-ovn/errors'
import { highestVlanId, type Vlan } from '@kube-ovn/kube-api'
import type { ControlSettings } from '../settings.ts'
import { providerNetworks, settingsOf, settingsTable, vlans } from '../sources.ts'

/** Frames with a tag on a physical network. */
export interface VlanTag {
  readonly name: string
  /** Name of the ProviderNetwork. */
  readonly provider: string
  /** 0 is without a tag. */
  readonly id: number
}

interface VlanClaim extends VlanTag {
  /** The lowest has the tag, of all that ask for it. */
  readonly rank: string
}

/** How a Vlan stands beside all others. */
export interface VlanState {
  readonly tag: VlanTag
  /** Why no subnet can be on it. */
  readonly problem: Refused | undefined
  /** The problem is another Vlan that has its tag. */
  readonly isConflict: boolean
}

/** What a Vlan asks for, without a look at others. Fields that are deprecated count where those in their place say nothing. */
export function tagOf({ metadata, spec = {} as never }: Vlan, settings: ControlSettings): VlanTag {
  const { id = 0, vlanId = 0, provider, providerInterfaceName } = spec
  return {
    name: metadata.name,
    provider: provider || providerInterfaceName || settings.defaultProvider,
    id: id === 0 ? vlanId : id,
  }
}

/** Whoever was told to have its tag keeps it, and an edit takes it from nobody; then the older one comes first. */
function rankOf({ metadata, status }: Vlan): string {
  const { name, creationTimestamp = '', generation } = metadata
  const wasAccepted =
    generation !== undefined && status?.observedGeneration === generation && status.conflict !== true
  return `${wasAccepted ? 0 : 1} ${creationTimestamp} ${name}`
}

const vlanClaims = rowTable({
  name: 'vlan-claims',
  of: vlans,
  reads: { settingsTable },
  row: (vlan, views): VlanClaim => ({
    ...tagOf(vlan, settingsOf(views.settingsTable)),
    rank: rankOf(vlan),
  }),
  indexes: { tag: (claim: VlanClaim) => [tagText(claim)] },
})

function tagText({ provider, id }: VlanTag): string {
  return `${id} ${provider}`
}

/** How Vlans stand beside each other. Any number may be without a tag: they are one. */
export const vlanStates = rowTable({
  name: 'vlan-states',
  of: vlanClaims,
  reads: { vlanClaims, providerNetworks },
  row: ({ rank, ...tag }, views): VlanState => {
    const { id, provider } = tag
    const refused = (field: string, value: string, cure: string, isConflict = false): VlanState => ({
      tag,
      problem: { field, value, cure },
      isConflict,
    })
    if (!Number.isInteger(id) || id < 0 || id > highestVlanId)
      return refused(
        'spec.id',
        String(id),
        `choose a number from 0, which is without a tag, to ${highestVlanId}`,
      )
    if (!isThere(provider, views.providerNetworks))
      return refused(
        'spec.provider',
        provider,
        'create a ProviderNetwork of this name, or name one that exists',
      )
    const earlier = views.vlanClaims.find('tag', tagText(tag)).find((other) => other.rank < rank)
    if (id !== 0 && earlier !== undefined)
      return refused(
        'spec.id',
        String(id),
        `choose another id, or another provider: Vlan ${earlier.name} has this one on ${provider}`,
        true,
      )
    return { tag, problem: undefined, isConflict: false }
  },
})

/** Nodes have let go of one that is being deleted and that we do not hold. */
function isThere(name: string, networks: ViewOf<typeof providerNetworks>): boolean {
  const network = networks.get(name)
  if (network === undefined) return false
  const { deletionTimestamp, finalizers } = network.metadata
  return deletionTimestamp === undefined || hasControllerFinalizer(finalizers)
}

/** The Vlans that subnets can be on. */
export const vlansInEffect = rowTable({
  name: 'vlans-in-effect',
  of: vlanStates,
  row: ({ tag, problem }): VlanTag | undefined => (problem === undefined ? tag : undefined),
  indexes: { provider: ({ provider }: VlanTag) => [provider] },
})
