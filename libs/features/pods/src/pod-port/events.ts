import type { Provider } from '@kube-ovn/annotations'
import { type KubeOvnError, problemText } from '@kube-ovn/errors'
import { ipResource, type Ip } from '@kube-ovn/kube-api'
import { pods as podResource } from '@kube-ovn/kube-api/core'
import type { KubeEvent } from '@kube-ovn/reconcile'
import { refusalText } from './refusal.ts'
import type { NicNeeds, PodNeeds, PodSnapshot } from './snapshot.ts'

/** Computes what users of a pod, and of what was reserved for it, are told. */
export function podEvents(snapshot: PodSnapshot): readonly KubeEvent[] {
  return [
    ...snapshot.pods.flatMap((pod) => ignoredEvents(snapshot, pod)),
    ...snapshot.pods.flatMap((pod) => refusals(snapshot, pod)),
    ...snapshot.pods.flatMap((pod) => pod.nics.flatMap((nic) => missedEvents(snapshot, pod, nic))),
    ...snapshot.reservations.flatMap(({ object, problem }) =>
      problem === undefined ? [] : aboutIp(object, 'AcquireAddressFailed', problem),
    ),
  ]
}

interface NicProblem {
  readonly error: KubeOvnError
  readonly provider: Provider | undefined
}

/** Why a pod, or one of its NICs, can not have what it needs. */
export function problemsOf({ problem, nics }: PodNeeds): readonly NicProblem[] {
  const ofPod = problem === undefined ? [] : [{ error: problem, provider: undefined }]
  const ofNics = nics.flatMap((nic) =>
    nic.problem === undefined ? [] : [{ error: nic.problem, provider: nic.nic.provider }],
  )
  return [...ofPod, ...ofNics]
}

function ignoredEvents(snapshot: PodSnapshot, pod: PodNeeds): readonly KubeEvent[] {
  return pod.ignored.map((error) => aboutPod(snapshot, pod, 'ValidatePodNetworkFailed', refusalText(error)))
}

function refusals(snapshot: PodSnapshot, pod: PodNeeds): readonly KubeEvent[] {
  return problemsOf(pod).map(({ error, provider }) => {
    const message = `stage=acquireAddress error=${refusalText(error, provider)}`
    return aboutPod(snapshot, pod, 'AcquireAddressFailed', message)
  })
}

/** A pod that has other addresses is told which it gives up; one that has none was told in its refusal. */
function missedEvents(snapshot: PodSnapshot, pod: PodNeeds, nic: NicNeeds): readonly KubeEvent[] {
  if (nic.missed?.problem === undefined) return []
  const { object, problem } = nic.missed
  if (nic.placement === undefined) return aboutIp(object, 'AcquireAddressFailed', problem)
  const reason = 'ReservationGivenUp'
  return [aboutPod(snapshot, pod, reason, problemText(problem)), ...aboutIp(object, reason, problem)]
}

function aboutIp({ metadata }: Ip, reason: string, problem: KubeOvnError): readonly KubeEvent[] {
  const { name, uid } = metadata
  if (uid === undefined) return []
  const regarding = { resource: ipResource, name, uid }
  return [{ regarding, type: 'Warning', reason, message: problemText(problem) }]
}

function aboutPod(
  { namespace }: PodSnapshot,
  { name, uid }: PodNeeds,
  reason: string,
  message: string,
): KubeEvent {
  return { regarding: { resource: podResource, namespace, name, uid }, type: 'Warning', reason, message }
}
