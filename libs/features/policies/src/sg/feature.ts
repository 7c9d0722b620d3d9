import { denyAllAcl, denyAllPortGroup } from '@kube-ovn/ovn-names'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { desiredDenyAll } from './desired.ts'

/** Keeps the port group of ports that may talk to nobody. */
export const denyAll: ControlFeature<'deny-all', true> = {
  name: 'sg',
  kinds: [denyAllPortGroup, denyAllAcl],
  memberships: [{ kind: denyAllPortGroup.name, column: 'acls' }],
  triggers: [],
  initialKeys: () => ['deny-all'],
  observe: () => true,
  desired: () => desiredDenyAll(),
}
