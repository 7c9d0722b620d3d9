import type { Pod } from '@kube-ovn/kube-api/core'
import type { VirtualMachineInstanceMigration } from '@kube-ovn/kube-api'
import { migrationOption } from '@kube-ovn/ovn-names'
import { isTargetOf } from '@kube-ovn/domains-control/pods'
import { flagsOf, storeIndex, type ControlWorld } from '@kube-ovn/domains-control'
import { podPortFlags } from './flags.ts'

/** Which nodes a port is to be on, where it is not simply the one that plugs it in. */
export interface ChassisRequest {
  /** The one that has the port first comes first. */
  readonly nodes: readonly string[]
  /** Traffic goes to the last one as soon as whoever is there announces itself. */
  readonly isActivatedByRarp: boolean
}

/**
 * Says where the ports of a machine are while both of its pods live: on both nodes until the move is over, then on the
 * one where the machine is. Afterwards there is one pod, and nothing to say.
 *
 * @param pods of the machine that live, the one that it moves into last
 */
export function chassisOfMachine(
  key: string,
  pods: readonly Pod[],
  world: ControlWorld,
): ChassisRequest | undefined {
  const source = pods[0]
  const target = pods.at(-1)
  if (source === undefined || target === undefined || source === target) return undefined
  if (!flagsOf(podPortFlags, world.settings).enableLiveMigrationOptimize) return undefined
  const migration = world.machineMigrations
    .find(storeIndex.migrationsByMachine, key)
    .find((one) => isTargetOf(target, one))
  const from = source.spec.nodeName ?? ''
  const to = target.spec.nodeName ?? ''
  return migration === undefined || from === to ? undefined : chassisOfMove(migration, from, to)
}

function chassisOfMove(
  { status }: VirtualMachineInstanceMigration,
  from: string,
  to: string,
): ChassisRequest | undefined {
  switch (status?.phase ?? '') {
    case 'Succeeded':
      return { nodes: [to], isActivatedByRarp: false }
    case 'Failed':
      return { nodes: [from], isActivatedByRarp: false }
    default:
      return { nodes: [from, to], isActivatedByRarp: true }
  }
}

/** Computes the options of a port that say where it is; without a request there are none. */
export function chassisOptions(
  request: ChassisRequest | undefined,
): Readonly<Record<string, string | undefined>> {
  return {
    [migrationOption.requestedChassis]: request?.nodes.join(),
    [migrationOption.activationStrategy]: request?.isActivatedByRarp === true ? 'rarp' : undefined,
  }
}
