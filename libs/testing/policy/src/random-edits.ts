import type { AdminNetworkPolicy } from '@kube-ovn/kube-api'
import type { KubeObject, Pod } from '@kube-ovn/kube-api/core'
import type { PolicyObjects } from './policy-world.ts'
import { drawNetworkPolicy } from './random-network-policies.ts'
import { networksEdited } from './random-network-edits.ts'
import { networksKey } from './random-networks.ts'
import { changeOne, withoutOne } from './random-parts.ts'
import { Random } from './random.ts'

/** What may be done to a world. */
type Edit = (objects: PolicyObjects, random: Random) => PolicyObjects

const edits: readonly Edit[] = [
  (objects, random) => ({
    ...objects,
    pods: changeOne(random, objects.pods, (pod) => relabelled(pod, random)),
  }),
  (objects, random) => ({ ...objects, pods: withoutOne(random, objects.pods) }),
  (objects, random) => ({
    ...objects,
    pods: changeOne(random, objects.pods, (pod) => ({
      ...pod,
      status: { ...pod.status, phase: 'Succeeded' },
    })),
  }),
  (objects, random) => ({ ...objects, pods: withCopy(random, objects.pods) }),
  (objects, random) => ({
    ...objects,
    namespaces: changeOne(random, objects.namespaces, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { team: random.of('red', 'blue'), env: random.of('prod', 'test') } },
    })),
  }),
  (objects, random) => ({
    ...objects,
    nodes: changeOne(random, objects.nodes, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { zone: random.of('a', 'b') } },
    })),
  }),
  (objects, random) => ({ ...objects, networkPolicies: withoutOne(random, objects.networkPolicies) }),
  (objects, random) => ({
    ...objects,
    networkPolicies: [...objects.networkPolicies, drawPolicy(random, objects)],
  }),
  (objects, random) => ({
    ...objects,
    networkPolicies: changeOne(random, objects.networkPolicies, ({ metadata }) => {
      const { spec, ...policy } = drawPolicy(random, objects)
      return { ...policy, metadata, ...(spec === undefined ? {} : { spec }) }
    }),
  }),
  (objects, random) => ({
    ...objects,
    adminNetworkPolicies: changeOne(random, objects.adminNetworkPolicies, (policy) => turned(policy)),
    clusterNetworkPolicies: changeOne(random, objects.clusterNetworkPolicies, (policy) => turned(policy)),
  }),
  (objects, random) => ({
    ...objects,
    adminNetworkPolicies: withoutOne(random, objects.adminNetworkPolicies),
    baselineAdminNetworkPolicies: changeOne(random, objects.baselineAdminNetworkPolicies, (policy) =>
      turned(policy),
    ),
  }),
  (objects, random) => ({ ...objects, egressFirewalls: withoutOne(random, objects.egressFirewalls) }),
  (objects, random) => ({ ...objects, securityGroups: withoutOne(random, objects.securityGroups) }),
]

/** Draws some edits, and gives the objects behind them; the same for one seed. */
export function edited(seed: number, objects: PolicyObjects): PolicyObjects {
  const random = new Random(seed ^ 0xed17)
  const drawn = random.some(1, 4, () => random.among(edits))
  return networksEdited(
    seed,
    drawn.reduce((now, edit) => edit?.(now, random) ?? now, objects),
  )
}

function relabelled(pod: Pod, random: Random): Pod {
  const labels = { app: random.of('web', 'db', 'cache'), ...random.maybe(0.5, () => ({ tier: 'back' })) }
  return { ...pod, metadata: { ...pod.metadata, labels } }
}

/** A new pod like one that there is. */
function withCopy(random: Random, pods: readonly Pod[]): readonly Pod[] {
  const pod = random.among(pods)
  if (pod === undefined) return pods
  const { namespace, labels = {}, annotations } = pod.metadata
  const name = `late-${pods.length}`
  if (pods.some(({ metadata }) => metadata.name === name)) return pods
  const metadata = { name, labels, uid: `uid-${name}`, ...(namespace === undefined ? {} : { namespace }) }
  const asked = annotations?.[networksKey]
  const networks = asked === undefined ? {} : { annotations: { [networksKey]: asked } }
  return [...pods, { ...pod, metadata: { ...metadata, ...networks } }]
}

function drawPolicy(random: Random, { namespaces, networkPolicies }: PolicyObjects) {
  const names = networkPolicies.map(nameOf)
  let index = 90
  while (names.includes(`np-${index}`)) index += 1
  const drawn = drawNetworkPolicy(random, index, namespaces.map(nameOf))
  return { ...drawn, metadata: { ...drawn.metadata, uid: `uid-${drawn.metadata.name}` } }
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name
}

/** The same with its rules the other way round. */
function turned(policy: AdminNetworkPolicy): AdminNetworkPolicy {
  const { ingress = [], egress = [] } = policy.spec ?? {}
  return { ...policy, spec: { ...policy.spec, ingress: ingress.toReversed(), egress: egress.slice(1) } }
}
