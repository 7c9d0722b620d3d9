import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'
import { isSameOwner, type AllocateRequest, type Owner } from '@kube-ovn/ipam'
import { vipType } from '@kube-ovn/kube-api'
import type { ControlWorld } from '../world.ts'
import { vipNic, vipOwner } from './vip-record.ts'
import { requestOf } from './recorded.ts'

/** Why a Pod can not have the addresses of a Vip. */
type Refusal = 'missing' | 'typed' | 'ending' | 'waiting' | 'elsewhere' | 'lent'

const messages: Readonly<Record<Refusal, string>> = {
  missing: 'the Vip does not exist',
  typed: 'the Vip has a port of its own',
  ending: 'the Vip is being deleted',
  waiting: 'the Vip has no addresses yet',
  elsewhere: 'the Vip has addresses of another subnet',
  lent: 'vip is in use by another pod',
}

const cures: Readonly<Record<Refusal, string>> = {
  missing: 'create the Vip, or name one that exists',
  typed: 'name a Vip without a type',
  ending: 'name another Vip, or create it anew',
  waiting: 'correct the specification of the Vip, see its conditions',
  elsewhere: 'name a Vip of the subnet, or do not ask for a subnet',
  lent: 'name another Vip, or delete the other pod',
}

/** A Pod wants the addresses of a Vip that it can not have. */
class VipNotLentError extends KubeOvnError<{
  readonly vip: string
  /** Who has them; empty when it is nobody who stands in the way. */
  readonly holder: string
  readonly cure: string
}> {
  readonly code = 'vip-not-lent'
  readonly retry: RetryClass = 'on-change'

  constructor(refusal: Refusal, details: { readonly vip: string; readonly holder?: string }) {
    super(messages[refusal], { holder: '', ...details, cure: cures[refusal] })
  }
}

/**
 * Says what a Pod is to ask for that wants the addresses of a Vip as its own: exactly these, beside the Vip itself, which
 * keeps them all the while.
 *
 * @param wantedSubnet the one that the Pod asks for, if it does
 * @throws VipNotLentError
 */
export function borrow(
  name: string,
  borrower: Owner,
  wantedSubnet: string | undefined,
  world: ControlWorld,
): Pick<AllocateRequest, 'subnet' | 'static' | 'mac' | 'family' | 'shareOnConflict'> {
  const vip = world.vips.get(name)
  if (vip === undefined) throw new VipNotLentError('missing', { vip: name })
  if ((vip.status?.type ?? vip.spec?.type ?? '') !== vipType.plain) {
    throw new VipNotLentError('typed', { vip: name })
  }
  if (vip.metadata.deletionTimestamp !== undefined) throw new VipNotLentError('ending', { vip: name })
  const lease = world.ipam.lease(vipNic(name))
  if (lease === undefined) throw new VipNotLentError('waiting', { vip: name })
  if (wantedSubnet !== undefined && wantedSubnet !== lease.subnet) {
    throw new VipNotLentError('elsewhere', { vip: name })
  }
  const address = lease.v4 ?? lease.v6
  const other = (address === undefined ? [] : world.ipam.holders(lease.subnet, address)).find(
    (owner) => owner !== vipOwner(name) && !isSameOwner(owner, borrower),
  )
  if (other !== undefined) throw new VipNotLentError('lent', { vip: name, holder: other })
  const { v4, v6, mac, subnet } = lease
  return { subnet, ...requestOf({ addresses: { v4, v6 }, mac: undefined }), mac, shareOnConflict: true }
}
