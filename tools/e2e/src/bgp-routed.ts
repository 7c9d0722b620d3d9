import type { Cluster, LabNode, PodObject } from '@kube-ovn/lab'
import type { LearningHost, Router } from './bgp-routers.ts'
import type { Speakers } from './bgp-speakers.ts'

/** The lab of the suite of BGP as it is between any two of its tests. */
export interface Routed {
  readonly cluster: Cluster
  readonly frr: Router
  readonly bird: Router
  /** Goes by what routers tell it. */
  readonly host: LearningHost
  readonly nodes: readonly [LabNode, LabNode]
  /** One on each node. Their Subnet is local. */
  readonly pods: readonly [PodObject, PodObject]
  readonly speakers: Speakers
  /** Until both routers reach a pod by one node alone. */
  untilTold(pod: PodObject, by: LabNode): Promise<void>
  /** Until both routers and the host outside, which has learned from them, reach all of these. */
  untilReached(...to: readonly string[]): Promise<void>
}
