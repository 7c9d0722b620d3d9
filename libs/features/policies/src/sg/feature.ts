import { baselineAcl, baselinePortGroup, denyAllAcl, denyAllPortGroup } from '@kube-ovn/ovn-names'
import { openConnectionFlags, stopsOpenConnections, withSampling } from '@kube-ovn/domains-control/policies'
import { desiredDenyAll, type DenyAllSnapshot } from './desired.ts'

/** Keeps the port groups of all ports that have security groups. */
export const denyAll = withSampling<'deny-all', DenyAllSnapshot>({
  name: 'sg',
  kinds: [denyAllPortGroup, denyAllAcl, baselinePortGroup, baselineAcl],
  memberships: [
    { kind: denyAllPortGroup.name, column: 'acls' },
    { kind: baselinePortGroup.name, column: 'acls' },
  ],
  triggers: [],
  initialKeys: () => ['deny-all'],
  flags: openConnectionFlags,
  observe: (_key, world) => ({
    hasBaseline: world.securityGroupPlaces.some('baseline', ''),
    stopsOpenConnections: stopsOpenConnections(world),
  }),
  desired: (_key, snapshot) =>
    desiredDenyAll(snapshot ?? { hasBaseline: false, stopsOpenConnections: false }),
})
