import { kindOf, nameOf, ownerOf, type Owner, type OwnerKind } from '@kube-ovn/ipam'
import type { Trigger } from '@kube-ovn/reconcile'
import type { ControlWorld } from '../world.ts'

/** Under which kind of owner each waits; a pod, or what runs in it, may be known by several. */
const waitingKinds: { readonly [K in OwnerKind]?: OwnerKind } = {
  ...{ pod: 'pod', 'statefulset-pod': 'pod', vm: 'pod', reservation: 'pod' },
  ...{ vip: 'vip', eip: 'eip', node: 'node', 'router-port': 'router-port', querier: 'querier' },
}

/** Who waits when an owner lacks addresses, if anybody does. */
export function waiterOf(owner: Owner): Owner | undefined {
  const kind = waitingKinds[kindOf(owner)]
  return kind && ownerOf(kind, nameOf(owner))
}

/** A key that waits for addresses is looked at when it has a turn. Keys are named as owners of the kind are. */
export function turnsOf(kind: OwnerKind): Trigger<string, ControlWorld> {
  const prefix = ownerOf(kind, '')
  return {
    on: 'signal',
    signal: 'turn',
    keys: (waiter) => (waiter.startsWith(prefix) ? [waiter.slice(prefix.length)] : []),
  }
}
