import { nodes, pods } from '@kube-ovn/kube-api/core'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import { KubeOvnError } from '@kube-ovn/errors'
import type { ObjectChange } from '@kube-ovn/kube'
import { ignoredAnnotations, ignoredLabels, ignoredTexts, maybeIgnored } from '@kube-ovn/no-effect'
import type { Ignored } from '@kube-ovn/no-effect'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent } from '@kube-ovn/reconcile'
import { holderOf, needsPort, nicsOf } from '@kube-ovn/domains-control/pods'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'

interface IgnoredSnapshot {
  readonly regarding: KubeEvent['regarding']
  readonly ignored: readonly Ignored[]
}

/**
 * Tells users of Pods and Nodes what they ask for in annotations and labels, and is not there yet. Subnets and VPCs say it
 * in their conditions. Keys are `Pod/namespace/name` and `Node/name`.
 */
export const ignored: ControlFeature<string, IgnoredSnapshot> = {
  name: 'ignored',
  kinds: [],
  triggers: [
    {
      on: 'object',
      resource: pods,
      keys: ({ key, old, new: current }: ObjectChange<Pod>) =>
        [old, current].some((pod) => maybeIgnored(pod?.metadata.annotations)) ? [`${pods.kind}/${key}`] : [],
    },
    {
      on: 'object',
      resource: nodes,
      keys: ({ key, old, new: current }: ObjectChange<Node>) =>
        [old, current].some((node) => node !== undefined && ignoredOfNode(node).length > 0)
          ? [`${nodes.kind}/${key}`]
          : [],
    },
  ],
  observe(key, world) {
    const [kind, ...rest] = key.split('/')
    return kind === nodes.kind ? observeNode(rest.join('/'), world) : observePod(rest.join('/'), world)
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredEvents(snapshot)),
}

function observePod(key: string, world: ControlWorld): IgnoredSnapshot | undefined {
  const pod = world.pods.get(key)
  if (pod === undefined || !needsPort(pod)) return undefined
  const { namespace = '', name, uid = '', annotations } = pod.metadata
  return {
    regarding: { resource: pods, namespace, name, uid },
    ignored: ignoredAnnotations('Pod', annotations, providersOf(pod, world)),
  }
}

/** A Pod whose networks are not known is told of that when it gets its ports. */
function providersOf(pod: Pod, world: ControlWorld): readonly string[] {
  try {
    return nicsOf(pod, holderOf(pod, world.settings), world).map(({ provider }) => provider)
  } catch (error) {
    if (error instanceof KubeOvnError) return []
    throw error
  }
}

function observeNode(name: string, world: ControlWorld): IgnoredSnapshot | undefined {
  const node = world.nodes.get(name)
  if (node === undefined) return undefined
  return {
    regarding: { resource: nodes, name, uid: node.metadata.uid ?? '' },
    ignored: ignoredOfNode(node),
  }
}

function ignoredOfNode({ metadata: { annotations, labels } }: Node): readonly Ignored[] {
  return [...ignoredAnnotations('Node', annotations), ...ignoredLabels(labels)]
}

function desiredEvents({ regarding, ignored: all }: IgnoredSnapshot): Desired {
  const events = ignoredTexts(all).map((message): KubeEvent => ({
    regarding,
    type: 'Warning',
    reason: 'AnnotationIgnored',
    message,
  }))
  return { ...nothing, events }
}
