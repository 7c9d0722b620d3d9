import type { Ipv4, Ipv6, Mac } from '@kube-ovn/ip'
import { hashText, type IndexKey } from './hash-index.ts'
import type { Lease } from './lease.ts'
import type { Owner } from './owner.ts'

/** What a lease says, with a MAC address that was parsed here. */
type LeaseFields = Omit<Lease, 'mac'> & { readonly mac: Mac | undefined }

/** A lease as it is kept. It knows by heart what its names hash to, so that finding it again need not read them. */
export class SubnetLease implements Lease {
  static readonly byNic: IndexKey<string, SubnetLease> = {
    of: (lease) => lease.nic,
    hash: hashText,
    hashOf: (lease) => lease.#nicHash,
  }
  static readonly byOwner: IndexKey<string, SubnetLease> = {
    of: (lease) => lease.owner,
    hash: hashText,
    hashOf: (lease) => lease.#ownerHash,
  }
  static readonly byMac: IndexKey<Mac, SubnetLease> = {
    of: (lease) => lease.mac,
    hash: hashText,
    hashOf: (lease) => lease.#macHash,
  }

  readonly nic: string
  readonly owner: Owner
  readonly uid: string | undefined
  readonly subnet: string
  readonly v4: Ipv4 | undefined
  readonly v6: Ipv6 | undefined
  readonly mac: Mac | undefined
  readonly isShared: true | undefined
  readonly #nicHash: number
  readonly #ownerHash: number
  readonly #macHash: number

  constructor(fields: LeaseFields) {
    this.nic = fields.nic
    this.owner = fields.owner
    this.uid = fields.uid
    this.subnet = fields.subnet
    this.v4 = fields.v4
    this.v6 = fields.v6
    this.mac = fields.mac
    this.isShared = fields.isShared
    this.#nicHash = hashText(fields.nic)
    this.#ownerHash = hashText(fields.owner)
    this.#macHash = fields.mac === undefined ? 0 : hashText(fields.mac)
  }

  /** The same lease with what is left of its addresses. */
  withAddresses(v4: Ipv4 | undefined, v6: Ipv6 | undefined): SubnetLease {
    const { nic, owner, uid, subnet, mac, isShared } = this
    return new SubnetLease({ nic, owner, uid, subnet, v4, v6, mac, isShared })
  }
}
