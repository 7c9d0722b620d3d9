import type { Pod } from '@kube-ovn/kube'
import { ageText } from './age-text.ts'

export interface SlowPod {
  readonly pod: string
  readonly node: string
  /** From when it was on a node until its sandbox, and with it the network, was there. */
  readonly seconds: number
  readonly ago: string
}

/** Times of conditions are whole seconds: less than this is nothing. */
const slowSeconds = 5
const recentMs = 3600_000
const most = 5

/** Pods that started lately and had to wait, the slowest first. */
export function slowPods(pods: readonly Pod[], nowMs: number): readonly SlowPod[] {
  return pods
    .flatMap(({ metadata: { namespace = '', name }, spec, status }): readonly SlowPod[] => {
      if (spec.hostNetwork === true) return []
      const since = (type: string): number =>
        Date.parse(
          status?.conditions?.find((one) => one.type === type && one.status === 'True')?.lastTransitionTime ??
            '',
        )
      const readyMs = since('PodReadyToStartContainers')
      const seconds = (readyMs - since('PodScheduled')) / 1000
      // What is not a number is neither.
      if (!(seconds >= slowSeconds) || !(nowMs - readyMs < recentMs)) return []
      return [
        { pod: `${namespace}/${name}`, node: spec.nodeName ?? '', seconds, ago: ageText(nowMs - readyMs) },
      ]
    })
    .toSorted((a, b) => b.seconds - a.seconds || a.pod.localeCompare(b.pod))
    .slice(0, most)
}
