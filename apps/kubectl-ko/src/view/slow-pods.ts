import type { Pod } from '@kube-ovn/kube'
import { ageText } from './age-text.ts'

/** A pod that waits for its network, or had to wait lately. */
export interface SlowPod {
  readonly pod: string
  readonly node: string
  /** It has none yet. */
  readonly isWaiting: boolean
  /** When it was put on its node, as RFC 3339 has it. */
  readonly since: string
  /** From then until its sandbox, and with it the network, was there; until now where it is not. */
  readonly seconds: number
  /** How long it is that it got one, or that it waits. */
  readonly ago: string
}

/** Times of conditions are whole seconds: less than this is nothing. */
const slowSeconds = 5
const recentMs = 3600_000
/** Of those that have a network by now. */
const most = 5

/** Pods that wait for their network, those that wait for longest first, then pods that started lately and had to wait, the slowest first. */
export function slowPods(pods: readonly Pod[], nowMs: number): readonly SlowPod[] {
  const slow = pods
    .flatMap((pod) => slowPod(pod, nowMs) ?? [])
    .toSorted((a, b) => b.seconds - a.seconds || a.pod.localeCompare(b.pod))
  return [
    ...slow.filter(({ isWaiting }) => isWaiting),
    ...slow.filter(({ isWaiting }) => !isWaiting).slice(0, most),
  ]
}

function slowPod({ metadata, spec, status }: Pod, nowMs: number): SlowPod | undefined {
  if (spec.hostNetwork === true || !spec.nodeName) return undefined
  const since = timeOf(status, 'PodScheduled') ?? metadata.creationTimestamp ?? ''
  const sandbox = timeOf(status, 'PodReadyToStartContainers')
  const isWaiting =
    sandbox === undefined && status?.phase === 'Pending' && metadata.deletionTimestamp === undefined
  if (sandbox === undefined && !isWaiting) return undefined
  const readyMs = sandbox === undefined ? nowMs : Date.parse(sandbox)
  const seconds = Math.floor((readyMs - Date.parse(since)) / 1000)
  // What is not a number is neither.
  if (!(seconds >= slowSeconds) || !(nowMs - readyMs < recentMs)) return undefined
  return {
    ...{ pod: `${metadata.namespace ?? ''}/${metadata.name}`, node: spec.nodeName },
    ...{ isWaiting, since, seconds },
    ago: ageText(nowMs - (isWaiting ? Date.parse(since) : readyMs)),
  }
}

function timeOf(status: Pod['status'], type: string): string | undefined {
  return status?.conditions?.find((one) => one.type === type && one.status === 'True')?.lastTransitionTime
}
