import { formatIpList } from '@kube-ovn/ip'
import type { Ipam } from './ipam.ts'
import type { AddressRecord } from './restore.ts'
import { isSameOwner } from './owner.ts'
import type { Violation } from './verify.ts'

/**
 * Compares what is held with all that is written down, on a live system that has come to rest.
 *
 * A lease without a record is a leak: nobody will release it. A record without its lease is worse: its address may be
 * handed out a second time.
 */
export function auditRecords(ipam: Ipam, records: Iterable<AddressRecord>): readonly Violation[] {
  const found: Violation[] = []
  const recorded = new Set<string>()
  for (const { subnet, nic, owner, addresses } of records) {
    recorded.add(nic)
    const lease = ipam.lease(nic)
    const claimed = formatIpList(addresses)
    if (lease === undefined || lease.subnet !== subnet)
      found.push({ rule: 'held', subnet, subject: nic, text: `${owner} is recorded to have ${claimed}` })
    else if (!isSameOwner(lease.owner, owner))
      found.push({
        rule: 'held',
        subnet,
        subject: nic,
        text: `${lease.owner} has what ${owner} is recorded to have`,
      })
    else if (
      (addresses.v4 !== undefined && addresses.v4 !== lease.v4) ||
      (addresses.v6 !== undefined && addresses.v6 !== lease.v6)
    ) {
      const text = `has ${formatIpList(lease)}, and is recorded to have ${claimed}`
      found.push({ rule: 'held', subnet, subject: nic, text })
    }
  }
  for (const lease of ipam.leases()) {
    if (recorded.has(lease.nic)) continue
    const { subnet, nic, owner } = lease
    found.push({ rule: 'recorded', subnet, subject: nic, text: `${owner} has ${formatIpList(lease)}` })
  }
  return found
}
