import { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList, parseRangeSets } from '@kube-ovn/ip'
import type { PoolChange } from '@kube-ovn/ipam'
import { ipPoolResource, type IpPool } from '@kube-ovn/kube-api'
import { ipPoolAddressSetName } from '@kube-ovn/ovn-names'
import { type Observed, observedOf } from '@kube-ovn/domains-control'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { addressSetOf, checkAddressSetName } from './address-set.ts'
import { AddressSetInvalidError, IpPoolInUseError } from './errors.ts'

/** What decides about an IPPool. */
export interface IpPoolSnapshot {
  readonly name: string
  readonly object: IpPool
  /** What is in effect as long as there is its subnet. */
  readonly decided: { readonly subnet: string; readonly ips: readonly string[] } | undefined
  /** Which generation its status is about. */
  readonly observed: Observed
  /** What its address set holds; absent when it is to have none. */
  readonly addressSet: readonly string[] | undefined
  /** Why there can be no address set although one is asked for. */
  readonly addressSetProblem: KubeOvnError | undefined
  /** Why the addresses are not handed out as the specification says. */
  readonly problem: KubeOvnError | undefined
  /** Entries without effect, beside others that have one. */
  readonly ignored: readonly KubeOvnError[]
  /** It is deleted, and nobody has any of its addresses. */
  readonly isOver: boolean
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** How many holders of addresses a message names. */
const namedHolders = 3

/**
 * Reads an IPPool.
 *
 * An edit that can not be used leaves in effect what was there before. A pool that is deleted ends once nobody has any
 * of its addresses.
 */
export function observeIpPool(name: string, world: ControlWorld): IpPoolSnapshot | undefined {
  const object = world.ipPools.get(name)
  if (object === undefined) return undefined
  const { decided, problem } = world.poolStates.get(name) ?? {}
  const isDeleting = object.metadata.deletionTimestamp !== undefined
  const inUse = isDeleting ? inUseProblem(name, world) : undefined
  const observed = observedOf(ipPoolResource, object, world)
  const base = { name, object, observed, decided, now: world.now() }
  if (isDeleting && inUse === undefined) {
    return {
      ...base,
      addressSet: undefined,
      addressSetProblem: undefined,
      problem: undefined,
      ignored: [],
      isOver: true,
    }
  }
  const stray = strayEntries(name, world)
  return {
    ...base,
    ...addressSet(object, world),
    problem: inUse ?? problem ?? (stray.isUseless ? stray.outside[0] : undefined),
    ignored: problem === undefined && !stray.isUseless ? stray.outside : [],
    isOver: false,
  }
}

/** Which entries are of no use to the subnet as it is. */
function strayEntries(name: string, world: ControlWorld): PoolChange {
  const pool = world.pools.get(name)
  const isServed = pool !== undefined && world.addressing.get(pool.subnet) !== undefined
  return isServed ? world.ipam.strayEntries(pool.subnet, name, pool.ips) : { outside: [], isUseless: false }
}

function inUseProblem(name: string, world: ControlWorld): IpPoolInUseError | undefined {
  const pool = world.pools.get(name)
  if (pool === undefined) return undefined
  const { v4, v6 } = parseRangeSets(pool.ips)
  const leases = [...world.ipam.leases(pool.subnet)].filter(
    (lease) => (lease.v4 !== undefined && v4.has(lease.v4)) || (lease.v6 !== undefined && v6.has(lease.v6)),
  )
  if (leases.length === 0) return undefined
  const texts = leases.map((lease) => `${lease.owner}(${formatIpList(lease)})`).sort()
  return new IpPoolInUseError({ pool: name, holders: texts.slice(0, namedHolders), count: leases.length })
}

function addressSet(
  object: IpPool,
  world: ControlWorld,
): Pick<IpPoolSnapshot, 'addressSet' | 'addressSetProblem'> {
  if (object.spec?.enableAddressSet !== true) return { addressSet: undefined, addressSetProblem: undefined }
  const { name } = object.metadata
  try {
    checkAddressSetName(name)
    checkUniqueName(object, world)
    return { addressSet: addressSetOf(name, object.spec.ips), addressSetProblem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { addressSet: undefined, addressSetProblem: error }
  }
}

/** Of two pools whose sets would have one name, the older one has it. */
function checkUniqueName(object: IpPool, world: ControlWorld): void {
  const { name } = object.metadata
  const set = ipPoolAddressSetName(name)
  const other = [...world.ipPools.values()].find(
    (pool) =>
      pool.metadata.name !== name &&
      pool.spec?.enableAddressSet === true &&
      ipPoolAddressSetName(pool.metadata.name) === set &&
      isBefore(pool, object),
  )
  if (other === undefined) return
  throw new AddressSetInvalidError({
    pool: name,
    field: 'metadata.name',
    value: name,
    cure: `give it another name: the address set ${set} is that of the IPPool ${other.metadata.name}`,
  })
}

function isBefore(a: IpPool, b: IpPool): boolean {
  const rank = ({ metadata }: IpPool): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return rank(a) < rank(b)
}
