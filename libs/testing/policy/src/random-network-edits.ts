import type { PolicyObjects } from './policy-world.ts'
import {
  attached,
  drawMultiNetworkPolicy,
  networkPolicyForKey,
  networksKey,
  policyForKey,
  scoped,
} from './random-networks.ts'
import { annotated, changeOne, withoutOne } from './random-parts.ts'
import { Random } from './random.ts'

type Edit = (objects: PolicyObjects, random: Random) => PolicyObjects

/** What may be done about networks beside the first one. */
const edits: readonly Edit[] = [
  (objects, random) => ({
    ...objects,
    multiNetworkPolicies: withoutOne(random, objects.multiNetworkPolicies),
  }),
  (objects, random) => ({
    ...objects,
    multiNetworkPolicies: [...objects.multiNetworkPolicies, drawLate(random, objects)],
  }),
  (objects, random) => ({
    ...objects,
    multiNetworkPolicies: changeOne(random, objects.multiNetworkPolicies, ({ metadata }) => {
      const { spec, ...policy } = drawLate(random, objects)
      const { annotations = {} } = policy.metadata
      return { ...policy, metadata: { ...metadata, annotations }, ...(spec === undefined ? {} : { spec }) }
    }),
  }),
  (objects, random) => ({
    ...objects,
    multiNetworkPolicies: changeOne(random, objects.multiNetworkPolicies, (policy) =>
      annotated(policy, { [policyForKey]: random.of('storage', 'else/storage', '') }),
    ),
  }),
  (objects, random) => ({
    ...objects,
    networkPolicies: changeOne(random, objects.networkPolicies, (policy) => scoped(random, policy, objects)),
  }),
  (objects, random) => ({
    ...objects,
    networkPolicies: changeOne(random, objects.networkPolicies, (policy) =>
      annotated(policy, { [networkPolicyForKey]: '' }),
    ),
  }),
  (objects, random) => ({
    ...objects,
    pods: changeOne(random, objects.pods, (pod) =>
      attached(random, pod, objects.networkAttachments, objects),
    ),
  }),
  (objects, random) => ({
    ...objects,
    pods: changeOne(random, objects.pods, (pod) => annotated(pod, { [networksKey]: '' })),
  }),
]

/** Draws some edits of a world that has further networks, and gives the objects behind them. */
export function networksEdited(seed: number, objects: PolicyObjects): PolicyObjects {
  if (objects.networkAttachments.length === 0) return objects
  const random = new Random(seed ^ 0x5ed17)
  return random
    .some(1, 3, () => random.among(edits))
    .reduce((now, edit) => edit?.(now, random) ?? now, objects)
}

function drawLate(random: Random, objects: PolicyObjects) {
  const names = objects.multiNetworkPolicies.map(({ metadata }) => metadata.name)
  let index = 90
  while (names.includes(`np-${index}`)) index += 1
  const drawn = drawMultiNetworkPolicy(random, index, objects)
  return { ...drawn, metadata: { ...drawn.metadata, uid: `uid-multi-${drawn.metadata.name}` } }
}
