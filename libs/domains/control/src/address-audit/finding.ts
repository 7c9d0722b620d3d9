import type { AddressRule, Owner } from '@kube-ovn/ipam'
import type { Holding } from '../restore/holding.ts'

/** What may be wrong with addresses on a live system. */
export const findingRules = [
  'held-twice',
  'mac-held-twice',
  'unheld',
  'outside',
  'unrecorded',
  'ownerless',
  'portless',
  'miscounted',
  'inconsistent',
] as const

/**
 * Which promise is broken, beside those of {@link AddressRule}.
 *
 * `ownerless`: a record or a port has outlived its owner. `portless`: a pod was told its addresses and has no port.
 * `miscounted`: the status of a Subnet says other numbers than there are. `inconsistent`: the allocator contradicts
 * itself.
 */
type FindingRule = AddressRule | 'ownerless' | 'portless' | 'miscounted' | 'inconsistent'

/** Where a claim stands: in a record, on a port whoever made it, or in the allocator itself. */
type FindingSource = Holding['source'] | 'IPAM' | 'Subnet'

/** One thing that is wrong, and what a person can do about it. */
export interface Finding {
  readonly rule: FindingRule
  readonly subnet: string
  /** Name of the object, port or NIC that is at fault. */
  readonly name: string
  readonly source: FindingSource
  /** The address or MAC address in question, or the numbers. */
  readonly value: string
  /** Whoever claims it, and then those who have it; empty where it is nobody's. */
  readonly owners: readonly Owner[]
  readonly cure: string
}

/** Completes a finding by what can be done about it. */
export function findingOf(finding: Omit<Finding, 'cure'>): Finding {
  return { ...finding, cure: cureOf(finding) }
}

function cureOf({ rule, subnet, name, source, value, owners }: Omit<Finding, 'cure'>): string {
  const it = `${source} ${name}`
  switch (rule) {
    case 'held-twice':
      return `remove ${it}, or give it another address: ${owners.slice(1).join(' and ')} has this one`
    case 'mac-held-twice':
      return `remove ${it}, or give it another MAC address: ${owners.slice(1).join(' and ')} has this one`
    case 'unheld':
      return source === 'logical switch port'
        ? `remove ${it}, or add ${value} to spec.excludeIps of subnet ${subnet}, so that nobody else gets it`
        : `delete ${it}, or restart the controller, which takes the address for it`
    case 'outside':
      return `create ${owners[0] ?? name} anew, so that it gets an address that subnet ${subnet} has`
    case 'unrecorded':
      return `restart the controller, which then forgets the address of ${owners[0] ?? name}`
    case 'ownerless':
      return `delete ${it}: ${owners[0] ?? name} does not exist`
    case 'portless':
      return `see the events of the pod and the log of the controller for what refuses the port ${name}`
    case 'miscounted':
      return `see the log of the controller for what refuses the status of subnet ${subnet}`
    case 'inconsistent':
      return 'restart the controller, which reads all addresses anew, and report this'
  }
}

/** Whether both say the same. */
export function findingKey({ rule, subnet, name, source, value, owners }: Finding): string {
  return [rule, subnet, source, name, value, ...owners].join(' ')
}
