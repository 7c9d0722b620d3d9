import { ref, memberOf } from '@kube-ovn/domains-control'
import { familyOf, formatIp } from '@kube-ovn/ip'
import { isObjectName } from '@kube-ovn/kube-api/core'
import {
  baselinePortGroup,
  type baselineSecurityGroup,
  defaultSecurityGroup,
  denyAllPortGroup,
  denyAllSecurityGroup,
  externalId,
  podPort,
  securityGroupAddresses,
  securityGroupAddressSetName,
  securityGroupMark,
  securityGroupPortGroup,
} from '@kube-ovn/ovn-names'
import type { Member } from '@kube-ovn/reconcile'
import type { PlacedNic } from './snapshot.ts'

/** Computes what a port says of its security groups: those that it is in, and those that it has left. */
export function securityMarks({
  options,
  formerGroups,
  placement: { network },
}: PlacedNic): Readonly<Record<string, string | undefined>> {
  const { securityGroups: given = [], sharesVip } = options
  const securityGroups = given.filter(isObjectName)
  const left = [...formerGroups, ...(network.isDefaultVpc ? [] : [defaultSecurityGroup])]
  // A port that has left all of its groups says so, as the original writes what changes.
  const hasLeft = formerGroups.some((name) => name !== defaultSecurityGroup)
  const none = sharesVip || hasLeft ? '' : undefined
  return {
    ...Object.fromEntries(left.map((name) => [securityGroupMark(name), 'false'])),
    ...Object.fromEntries(securityGroups.map((name) => [securityGroupMark(name), 'true'])),
    [externalId.securityGroups]: securityGroups.length === 0 ? none : securityGroups.join('/'),
  }
}

/** Computes the places of a NIC in security groups: its port, and all addresses from which it may send. */
export function securityMembers({
  nic,
  options,
  security,
  placement: { lease },
}: PlacedNic): readonly Member[] {
  if (nic.has !== 'port') return []
  const port = ref(podPort, nic.port)
  const own = [lease.v4, lease.v6].filter((ip) => ip !== undefined)
  const addresses = new Set([...own, ...(options.isSecured ? options.vips : [])])
  return [
    ...security.builtIn.map((name) => memberOf(builtInGroup(name), 'ports', port)),
    ...security.groups.map((group) => memberOf(ref(securityGroupPortGroup, group), 'ports', port)),
    ...security.groups.flatMap((group) =>
      [...addresses].map((ip) => ({
        of: ref(securityGroupAddresses, securityGroupAddressSetName(group, familyOf(ip))),
        column: 'addresses',
        value: formatIp(ip),
      })),
    ),
  ]
}

function builtInGroup(name: typeof denyAllSecurityGroup | typeof baselineSecurityGroup) {
  return name === denyAllSecurityGroup ? ref(denyAllPortGroup, name) : ref(baselinePortGroup, name)
}
