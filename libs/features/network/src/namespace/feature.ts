import { namespaceAnnotations } from '@kube-ovn/annotations'
import { namespaces } from '@kube-ovn/kube-api/core'
import { subnetResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent } from '@kube-ovn/reconcile'
import { poolsOfNamespace, subnetsOfNamespace } from '@kube-ovn/domains-control/topology'
import type { ControlFeature } from '@kube-ovn/domains-control'

/** The subnets and IPPools that serve a namespace. */
interface NamespaceSnapshot {
  readonly name: string
  readonly uid: string
  readonly subnets: readonly {
    readonly name: string
    readonly uid: string
    readonly cidrBlock: string
    readonly excludeIps: readonly string[]
  }[]
  /** Names of IPPools. */
  readonly pools: readonly string[]
}

/** Tells, on each namespace, which subnets and IPPools its pods take their addresses from. */
export const namespace: ControlFeature<string, NamespaceSnapshot> = {
  name: 'namespace',
  kinds: [],
  rights: [{ resource: namespaces, verbs: ['patch'] }],
  triggers: [{ on: 'object', resource: namespaces, keys: (change) => [change.key] }],
  observe(name, world) {
    const object = world.namespaces.get(name)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
    const subnets = subnetsOfNamespace(name, world).flatMap((subnet) => {
      const addressing = world.addressing.get(subnet)
      const uid = world.subnetLives.get(subnet)?.uid ?? ''
      return addressing === undefined ? [] : [{ ...addressing, uid }]
    })
    return { name, uid: object.metadata.uid ?? '', subnets, pools: poolsOfNamespace(name, world) }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredNamespace(snapshot)),
}

/** All annotations of an object have room for twice as much: others have to fit in, too. */
const longestExcludeIps = 128 * 1024

/** Computes the annotations of a namespace; none while no subnet of it is in effect. */
export function desiredNamespace(namespace: NamespaceSnapshot): Desired {
  const { name, subnets, pools } = namespace
  if (subnets.length === 0) return nothing
  const { logicalSwitch, cidr, excludeIps, ipPool } = namespaceAnnotations
  const excluded = excludeIps.format(subnets.map((subnet) => subnet.excludeIps))
  const annotations = {
    [logicalSwitch.key]: logicalSwitch.format(subnets.map((subnet) => subnet.name)),
    [cidr.key]: cidr.format(subnets.map((subnet) => subnet.cidrBlock)),
    // What would be refused would take the others with it.
    [excludeIps.key]: excluded.length > longestExcludeIps ? null : excluded,
    [ipPool.key]: pools.length === 0 ? null : ipPool.format(pools),
  }
  return {
    ...nothing,
    patches: [{ resource: namespaces, name, merge: { metadata: { annotations } } }],
    events: subnets.length > 1 ? boundTwice(namespace) : [],
  }
}

/**
 * Several subnets may be meant, as when one is full. Whoever did not mean it would wonder where addresses come from, so
 * both the namespace and its subnets tell.
 */
function boundTwice({ name, uid, subnets }: NamespaceSnapshot): readonly KubeEvent[] {
  const names = subnets.map((subnet) => subnet.name).join(', ')
  const message = `pods of namespace ${name} take addresses from the subnets ${names}, tried in this order: if one is meant, leave the namespace out of spec.namespaces and spec.namespaceSelectors of the others`
  return [
    { resource: namespaces, name, uid },
    ...subnets.map((subnet) => ({ resource: subnetResource, name: subnet.name, uid: subnet.uid })),
  ].map((regarding) => ({ regarding, type: 'Warning', reason: 'NamespaceBoundTwice', message }))
}
