import type { ApiFault } from '@kube-ovn/testing-kube'
import type { NetworkName } from '../cluster/topology.ts'
import type { Component } from './component.ts'

/** A machine, or one component on it. */
export interface Target {
  /** `control`, `outside` or the name of a node. */
  readonly machine: string
  readonly component?: Component
}

/** What a node can be cut off from by port, whoever uses it there. */
export const services = {
  api: [6443],
  northbound: [6641],
  // The second port is ovn-northd's.
  southbound: [6642, 6649],
  raft: [6643, 6644],
} as const satisfies Record<string, readonly number[]>
export type Service = keyof typeof services

/**
 * Something broken that stays broken until it is repaired.
 *
 * - `pause`: frozen, as by SIGSTOP; a machine with everything on it.
 * - `stop`: ended and kept from coming back; a machine as by a power cut, or a daemon that the lab runs.
 * - `partition`: nothing arrives any more, and nobody is told. A node from one of its networks or all of them, from another node, or from a
 *   service.
 * - `full-disk`: the file system of a component's data has not a byte left.
 * - `slow-disk`: every write of a database to its file takes so much longer.
 * - `clock`: the component's clock, and no other, is off by so much.
 * - `api-server`: a proxy that misbehaves takes the place of the API server, for everybody outside the control machine.
 */
export type Fault =
  | { readonly kind: 'pause' | 'stop'; readonly target: Target }
  | {
      readonly kind: 'partition'
      readonly node: string
      readonly from: OtherSide
    }
  | { readonly kind: 'full-disk'; readonly target: Target & { readonly component: Component } }
  | {
      readonly kind: 'slow-disk'
      readonly target: Target & { readonly component: Component }
      readonly delayMs: number
    }
  | {
      readonly kind: 'clock'
      readonly target: Target & { readonly component: ClockComponent }
      readonly offsetSeconds: number
    }
  | { readonly kind: 'api-server'; readonly faults: readonly ApiFault[] }

/** What a node does not reach any more. */
export type OtherSide =
  { readonly network: NetworkName | 'all' } | { readonly node: string } | { readonly service: Service }

/** Components whose clock can be set: those that take the time from the C library, and stand alone in their container. */
export type ClockComponent = 'controller' | 'agent'

/** Something that is done to a component once and that it must recover from by itself. */
export type Blow =
  | { readonly kind: 'kill' | 'restart'; readonly target: Target & { readonly component: Component } }
  /** etcd forgets its history: who watches or pages from before is told 410. */
  | { readonly kind: 'compact' }

/** Tells what happens once from what stands until it is repaired. */
export function isBlow(fault: Fault | Blow): fault is Blow {
  return fault.kind === 'kill' || fault.kind === 'restart' || fault.kind === 'compact'
}
