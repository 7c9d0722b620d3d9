import type { Informer } from '@kube-ovn/kube'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import type { AttachmentStage } from '../errors.ts'
import type { LocalOvs } from '../local-ovs.ts'
import type { Observable } from '../observable.ts'
import type { Allocation } from './allocation.ts'
import type { DesiredAttachment } from './desired.ts'
import type { Kernel } from './link.ts'
import type { AttachmentRequest } from './snapshot.ts'

export interface PodNicDependencies {
  readonly ovs: LocalOvs
  readonly kernel: Kernel
  readonly pods: Pick<Informer<Pod>, 'store' | 'onChange'>
  readonly subnets: Pick<Informer<Subnet>, 'store' | 'onChange'>
  readonly nodes: Pick<Informer<Node>, 'store' | 'onChange'>
  /** Of the own node. */
  readonly nodeName: string
  /** MTU of what travels in tunnels; `undefined` until it is known. */
  readonly tunnelMtu: Observable<number | undefined>
  readonly clock: Clock
  readonly log: Logger
  readonly reporter: AttachmentReporter
}

/** Is told how attachments went: makes events and metrics of it. */
export interface AttachmentReporter {
  added(request: AttachmentRequest, attachment: Attachment): void
  addFailed(request: AttachmentRequest, podUid: string, stage: AttachmentStage, error: unknown): void
  removed(request: AttachmentRequest): void
  removeFailed(request: AttachmentRequest, error: unknown): void
  /** Time spent waiting for the controller, by what was missing at the end of it. */
  waited(stage: AttachmentStage, ms: number): void
  /** The addresses of a pod were not announced. */
  announceFailed(): void
}

/** An attachment that is complete: packets flow. */
export interface Attachment {
  readonly allocation: Allocation
  readonly wanted: DesiredAttachment
  readonly timings: AttachmentTimings
}

/** Where the time of an ADD went, milliseconds. */
interface AttachmentTimings {
  /** The agent's own work. */
  readonly agentMs: number
  /** Until the controller had allocated an address and marked the pod as routed. */
  readonly controllerWaitMs: number
  /** Until ovn-controller had installed the flows and physical gateways had answered, after the interface was configured. */
  readonly ovnWaitMs: number
}
