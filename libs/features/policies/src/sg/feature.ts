import { denyAllAcl, denyAllPortGroup } from '@kube-ovn/ovn-names'
import type { Feature } from '@kube-ovn/reconcile'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { desiredDenyAll } from './desired.ts'

/** Keeps the port group of ports that may talk to nobody. */
export const denyAll: Feature<'deny-all', true, ControlWorld> = {
  name: 'sg',
  kinds: [denyAllPortGroup, denyAllAcl],
  memberships: [{ kind: denyAllPortGroup.name, column: 'acls' }],
  triggers: [],
  initialKeys: () => ['deny-all'],
  observe: () => true,
  desired: () => desiredDenyAll(),
}
