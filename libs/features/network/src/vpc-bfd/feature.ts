import { vpcResource } from '@kube-ovn/kube-api'
import {
  bfdChassis,
  bfdChassisGroup,
  bfdPortName,
  bfdRouterPort,
  bfdSession,
  logicalRouter,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { comesOrGoes, kept, partOfVpc } from '@kube-ovn/domains-control/topology'
import { flagsOf, isNamedAfter, type ControlFeature, type ControlSettings } from '@kube-ovn/domains-control'
import { desiredBfd, type BfdSnapshot } from './desired.ts'
import { bfdFlags } from './flags.ts'

/** Supervises next hops of VPCs by BFD. */
export const vpcBfd: ControlFeature<string, BfdSnapshot | typeof kept> = {
  name: 'vpc-bfd',
  kinds: [bfdSession, bfdRouterPort, bfdChassisGroup, bfdChassis],
  // Sessions are named after ports of the router.
  mayOwn: (vpc, { kind, id }) =>
    kind === bfdSession.name ? id.startsWith(`${vpc}-`) : isNamedAfter(bfdPortName(vpc), id),
  flags: bfdFlags,
  memberships: [
    { kind: logicalRouter.name, column: 'ports' },
    { kind: bfdChassisGroup.name, column: 'ha_chassis' },
  ],
  triggers: [{ on: 'object', resource: vpcResource, keys: comesOrGoes }],
  initialKeys: ({ settings }) => [settings.clusterRouter],
  observe: (vpc, world) =>
    partOfVpc(vpc, world, () => {
      const { sessions, port } = world.routerSupervisions.get(vpc) ?? { sessions: [], port: undefined }
      return { vpc, sessions, port, timers: timersOf(world.settings), newMac: world.newMac() }
    }),
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === kept ? { ...nothing, hold: true } : desiredBfd(snapshot)
  },
}

/** What can not be is as near to it as can be: the database refuses it. */
function timersOf(settings: ControlSettings): BfdSnapshot['timers'] {
  const { bfdMinTx, bfdMinRx, detectMult } = flagsOf(bfdFlags, settings)
  return {
    minTx: Math.max(bfdMinTx, 1),
    minRx: Math.max(bfdMinRx, 0),
    detectMult: Math.min(Math.max(detectMult, 1), 255),
  }
}
