import { podAnnotations } from '@kube-ovn/annotations'
import type { Pod } from '@kube-ovn/kube'
import { ageText } from '../view/age-text.ts'

export interface NetworkStep {
  readonly step: string
  readonly state: 'done' | 'missing' | 'waits' | 'unknown'
  /** Who does it. */
  readonly by: string
  readonly since: string | undefined
  readonly detail: string
}

/** What the steps of a pod are told from. */
export interface WhyFacts {
  readonly pod: Pod
  readonly nowMs: number
  /** Whether the IP object of the pod is there. */
  readonly hasRecord: boolean
  readonly isAgentReady: boolean
  readonly isSwitchReady: boolean
  /** What Open vSwitch has of the pod; undefined where it was not, or may not be, asked. */
  readonly nic: { readonly isInstalled: boolean; readonly name: string } | undefined
  readonly isNicKnown: boolean
  /** The controller's lease is held. */
  readonly hasLeader: boolean
}

/** The steps by which a pod gets its network, in their order, as far as they have come. */
export function stepsOf(facts: WhyFacts): readonly NetworkStep[] {
  const { pod, nowMs } = facts
  if (pod.spec.hostNetwork === true) {
    const detail = 'it uses the network of its node'
    return [{ step: 'network', state: 'done', by: 'kubelet', since: undefined, detail }]
  }
  const said = podAnnotations()
  const { annotations = {}, creationTimestamp = '' } = pod.metadata
  const created = agoText(creationTimestamp, nowMs)
  const condition = (type: string) => pod.status?.conditions?.find((condition) => condition.type === type)
  const isScheduled = (pod.spec.nodeName ?? '') !== ''
  const node = pod.spec.nodeName ?? ''
  const isAllocated = annotations[said.allocated.key] === 'true'
  const isRouted = annotations[said.routed.key] === 'true'
  const sandbox = condition('PodReadyToStartContainers')
  const hasSandbox = sandbox?.status === 'True' || pod.status?.phase === 'Running'
  const scheduled = condition('PodScheduled')
  const steps: NetworkStep[] = [
    {
      step: 'scheduled',
      state: isScheduled ? 'done' : 'missing',
      by: 'the scheduler',
      since: agoText(scheduled?.lastTransitionTime ?? creationTimestamp, nowMs),
      detail: isScheduled ? `on ${node}` : (scheduled?.message ?? 'no node was chosen yet'),
    },
    {
      step: 'addresses',
      state: isAllocated ? 'done' : 'missing',
      by: 'kube-ovn-controller',
      since: isAllocated ? undefined : created,
      detail: isAllocated
        ? `${annotations[said.ipAddress.key] ?? ''} of subnet ${annotations[said.logicalSwitch.key] ?? ''}${facts.hasRecord ? '' : ', but there is no IP object'}`
        : facts.hasLeader
          ? 'none given: see its events below'
          : 'none given: nobody leads the controllers',
    },
    {
      step: 'policies',
      state: isRouted ? 'done' : 'missing',
      by: 'kube-ovn-controller',
      since: isRouted ? undefined : created,
      detail: isRouted ? 'rows of the port are in the Northbound' : 'the annotation routed is missing',
    },
    {
      step: 'node',
      state: !isScheduled ? 'waits' : facts.isAgentReady && facts.isSwitchReady ? 'done' : 'missing',
      by: facts.isSwitchReady ? 'kube-ovn-cni' : 'ovs-ovn',
      since: undefined,
      detail: nodeDetail(facts, node),
    },
    {
      step: 'NIC',
      state: facts.nic !== undefined ? 'done' : facts.isNicKnown ? 'missing' : 'unknown',
      by: 'kube-ovn-cni',
      since: undefined,
      detail:
        facts.nic?.name ?? (facts.isNicKnown ? 'Open vSwitch of the node has no port for it' : 'not asked'),
    },
    {
      step: 'flows',
      state: facts.nic === undefined ? 'unknown' : facts.nic.isInstalled ? 'done' : 'missing',
      by: 'ovn-controller',
      since: undefined,
      detail:
        facts.nic === undefined
          ? '-'
          : facts.nic.isInstalled
            ? 'ovn-installed'
            : 'ovn-controller has not said that the flows are there',
    },
    {
      step: 'sandbox',
      state: hasSandbox ? 'done' : 'missing',
      by: 'kubelet',
      since: agoText(sandbox?.lastTransitionTime, nowMs),
      detail: hasSandbox ? 'the network is complete' : 'kubelet has not finished ADD',
    },
  ]
  return waiting(steps)
}

function nodeDetail({ isAgentReady, isSwitchReady }: WhyFacts, node: string): string {
  if (node === '') return '-'
  if (!isSwitchReady) return `Open vSwitch is not ready on ${node}`
  return isAgentReady ? `agent and Open vSwitch are ready on ${node}` : `the agent is not ready on ${node}`
}

/** What comes after the first step that is missing can not be expected yet. */
function waiting(steps: readonly NetworkStep[]): readonly NetworkStep[] {
  const first = steps.findIndex(({ state }) => state === 'missing')
  return steps.map((step, index) =>
    first >= 0 && index > first && step.state === 'missing' ? { ...step, state: 'waits' } : step,
  )
}

function agoText(time: string | undefined, nowMs: number): string | undefined {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? undefined : ageText(nowMs - at)
}
