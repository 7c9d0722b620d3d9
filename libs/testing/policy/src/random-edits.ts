import type { AdminNetworkPolicy } from '@kube-ovn/kube-api'
import type { KubeObject, Pod } from '@kube-ovn/kube-api/core'
import type { PolicyObjects } from './policy-world.ts'
import { editOf, withEdits, type Edit } from './random-edit.ts'
import { drawNetworkPolicy } from './random-network-policies.ts'
import { namesEdited } from './random-names.ts'
import { networksEdited } from './random-network-edits.ts'
import { networksKey } from './random-networks.ts'
import { changeOne, withoutOne } from './random-parts.ts'
import { seldomEdited } from './random-seldom-edits.ts'
import { Random } from './random.ts'

/** What may be done to a world. */
const edits: readonly Edit[] = [
  editOf('pods', (random, list) => changeOne(random, list, (pod) => relabelled(pod, random))),
  editOf('pods', withoutOne),
  editOf('pods', (random, list) =>
    changeOne(random, list, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } })),
  ),
  editOf('pods', withCopy),
  editOf('namespaces', (random, list) =>
    changeOne(random, list, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { team: random.of('red', 'blue'), env: random.of('prod', 'test') } },
    })),
  ),
  editOf('nodes', (random, list) =>
    changeOne(random, list, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { zone: random.of('a', 'b') } },
    })),
  ),
  editOf('networkPolicies', withoutOne),
  editOf('networkPolicies', (random, list, objects) => [...list, drawPolicy(random, objects)]),
  editOf('networkPolicies', (random, list, objects) =>
    changeOne(random, list, ({ metadata }) => {
      const { spec, ...policy } = drawPolicy(random, objects)
      return { ...policy, metadata, ...(spec === undefined ? {} : { spec }) }
    }),
  ),
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
  editOf('egressFirewalls', withoutOne),
  editOf('securityGroups', withoutOne),
]

/** Draws some edits, and gives the objects behind them; the same for one seed. */
export function edited(seed: number, objects: PolicyObjects): PolicyObjects {
  const first = withEdits(new Random(seed ^ 0xed17), edits, 4, objects)
  return namesEdited(seed, seldomEdited(seed, networksEdited(seed, first)))
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
