import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'
import type { Owner } from './owner.ts'

// Messages begin with the word that upstream puts into Events; users and their tools look for it.

/** A static address lies outside the subnet's CIDR, or is no address that ports may have. */
export class AddressOutOfRangeError extends KubeOvnError<{
  readonly subnet: string
  readonly address: string
  /** What the subnet offers. */
  readonly cidr: string
  readonly cure: string
}> {
  readonly code = 'ipam-address-out-of-range'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<AddressOutOfRangeError['details'], 'cure'>) {
    const cure = `choose an address of ${details.cidr}, other than its first and its last`
    super('AddressOutOfRange: the address is not one of the subnet', { ...details, cure })
  }
}

/** Why an address can not be had although the subnet has it. */
export type AddressConflict = 'held' | 'gateway' | 'avoided'

const conflictMessages: Readonly<Record<AddressConflict, string>> = {
  held: 'AddressConflict: the address is held by another owner',
  gateway: "AddressConflict: the address is the subnet's gateway",
  avoided: 'AddressConflict: every free address has to be avoided',
}

const conflictCures: Readonly<Record<AddressConflict, string>> = {
  held: 'choose another address, or remove its holder',
  gateway: 'choose an address other than the gateway',
  avoided: 'free other addresses of the subnet, or widen its CIDR',
}

/** An address is held by somebody else, is the gateway, or collides with every address to be avoided. */
export class AddressConflictError extends KubeOvnError<{
  readonly subnet: string
  readonly conflict: AddressConflict
  readonly address: string
  /** The owners that hold the address; empty when it is no owner that stands in the way. */
  readonly holders: readonly Owner[]
  readonly cure: string
}> {
  readonly code = 'ipam-address-conflict'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<AddressConflictError['details'], 'cure'>) {
    super(conflictMessages[details.conflict], { ...details, cure: conflictCures[details.conflict] })
  }
}

/** There is nothing left to hand out, or the pool asked for does not exist. */
export class NoAvailableAddressError extends KubeOvnError<{
  readonly subnet: string
  /** The IPPool asked for; empty for the addresses that are in no IPPool. */
  readonly pool: string
  readonly family: 4 | 6
  readonly cure: string
}> {
  readonly code = 'ipam-no-available-address'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<NoAvailableAddressError['details'], 'cure'>, isKnownPool = true) {
    const cure = !isKnownPool
      ? 'name an IPPool of this subnet, or create it'
      : details.pool === ''
        ? 'free addresses of the subnet, exclude fewer of them, or widen its CIDR'
        : 'free addresses of the IPPool, or add some to it'
    super('NoAvailableAddress: no address of the family is free', { ...details, cure })
  }
}

/** The subnet is not known (yet, or any more). */
export class NoSubnetError extends KubeOvnError<{ readonly subnet: string; readonly cure: string }> {
  readonly code = 'ipam-no-subnet'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<NoSubnetError['details'], 'cure'>) {
    super('NoSubnet: the subnet does not exist or is not valid', {
      ...details,
      cure: 'create the subnet, or correct its specification',
    })
  }
}

/** The CIDRs or gateways of a subnet can not be worked with. */
export class CidrInvalidError extends KubeOvnError<
  Refused & {
    readonly subnet: string
  }
> {
  readonly code = 'ipam-cidr-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: CidrInvalidError['details']) {
    super('CIDRInvalid: the address block of the subnet is not valid', details)
  }
}

/** The gateway of a subnet is no address of its CIDR. */
export class GatewayOutsideError extends KubeOvnError<
  Refused & {
    readonly subnet: string
    readonly field: 'gateways'
    readonly cidr: string
  }
> {
  readonly code = 'ipam-gateway-outside'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<GatewayOutsideError['details'], 'field' | 'cure'>) {
    const cure = `choose an address of ${details.cidr}`
    super('CIDRInvalid: the gateway is outside the CIDR of the subnet', {
      ...details,
      field: 'gateways',
      cure,
    })
  }
}

/** An entry of `excludeIps` excludes nothing. Told, not thrown: the subnet works without it. */
export class ExcludeIpsError extends KubeOvnError<
  Refused & {
    readonly subnet: string
    readonly field: 'excludeIps'
  }
> {
  readonly code = 'ipam-exclude-ips'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<ExcludeIpsError['details'], 'field'>) {
    super('the entry excludes no address of the subnet', { ...details, field: 'excludeIps' })
  }
}

/** An entry of an IPPool names no address of its subnet. Told, not thrown: the rest of the pool works without it. */
export class PoolOutsideSubnetError extends KubeOvnError<
  Refused & {
    readonly subnet: string
    readonly pool: string
    readonly field: 'spec.ips'
    /** What the subnet offers. */
    readonly cidr: string
  }
> {
  readonly code = 'ipam-pool-outside-subnet'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<PoolOutsideSubnetError['details'], 'field' | 'cure'>) {
    const cure =
      details.cidr === ''
        ? 'name a subnet that has addresses'
        : `choose addresses of ${details.cidr}, or remove the entry`
    super('the IPPool has addresses that are none of its subnet', { ...details, field: 'spec.ips', cure })
  }
}

/** The request names a family, or an address of a family, that the subnet does not have. */
export class InvalidIpFamilyError extends KubeOvnError<{
  readonly subnet: string
  readonly requested: 4 | 6
  readonly offered: readonly (4 | 6)[]
  readonly cure: string
}> {
  readonly code = 'ipam-invalid-ip-family'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<InvalidIpFamilyError['details'], 'cure'>) {
    const offered = details.offered.map((family) => `IPv${family}`).join(' or ')
    const cure = offered === '' ? 'ask for no address: the subnet has none' : `ask for ${offered}`
    super('InvalidIPFamily: the request is for another IP family', { ...details, cure })
  }
}

/** A MAC address is held by another owner of the subnet, or is the gateway's. */
export class MacConflictError extends KubeOvnError<{
  readonly subnet: string
  readonly mac: string
  /** The owners that hold it; empty when it is the gateway's. */
  readonly holders: readonly Owner[]
  readonly cure: string
}> {
  readonly code = 'ipam-mac-conflict'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<MacConflictError['details'], 'cure'>) {
    super('AddressConflict: the MAC address is in use', { ...details, cure: 'choose another MAC address' })
  }
}

/** Another owner has a NIC of this name. Nobody tells when it has none any more: addresses of other subnets may be all that it had. */
export class NicConflictError extends KubeOvnError<{
  readonly nic: string
  readonly owner: Owner
  readonly holder: Owner
  readonly cure: string
}> {
  readonly code = 'ipam-nic-conflict'
  readonly retry: RetryClass = 'backoff'

  constructor(details: Omit<NicConflictError['details'], 'cure'>) {
    super('AddressConflict: another owner holds the addresses of this NIC', {
      ...details,
      cure: 'remove the holder, or give one of the two another name',
    })
  }
}

/** Two IPPools of a subnet name the same addresses. */
export class PoolConflictError extends KubeOvnError<
  Refused & {
    readonly subnet: string
    readonly pool: string
    readonly sibling: string
    readonly field: 'spec.ips'
  }
> {
  readonly code = 'ipam-pool-conflict'
  readonly retry: RetryClass = 'on-change'

  /** `value` is the addresses that both name, as `a-b,c`. */
  constructor(details: Omit<PoolConflictError['details'], 'field' | 'cure'>) {
    super('the IPPool has addresses of another IPPool', {
      ...details,
      field: 'spec.ips',
      cure: 'remove the addresses from one of the two',
    })
  }
}
