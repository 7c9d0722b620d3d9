import type { PolicyObjects } from './policy-world.ts'
import { editOf, withEdits, type Edit } from './random-edit.ts'
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

/** What may be done about networks beside the first one. */
const edits: readonly Edit[] = [
  editOf('multiNetworkPolicies', withoutOne),
  editOf('multiNetworkPolicies', (random, list, objects) => [...list, drawLate(random, objects)]),
  editOf('multiNetworkPolicies', (random, list, objects) =>
    changeOne(random, list, ({ metadata }) => {
      const { spec, ...policy } = drawLate(random, objects)
      const { annotations = {} } = policy.metadata
      return { ...policy, metadata: { ...metadata, annotations }, ...(spec === undefined ? {} : { spec }) }
    }),
  ),
  editOf('multiNetworkPolicies', (random, list) =>
    changeOne(random, list, (policy) =>
      annotated(policy, { [policyForKey]: random.of('storage', 'else/storage', '') }),
    ),
  ),
  editOf('networkPolicies', (random, list, objects) =>
    changeOne(random, list, (policy) => scoped(random, policy, objects)),
  ),
  editOf('networkPolicies', (random, list) =>
    changeOne(random, list, (policy) => annotated(policy, { [networkPolicyForKey]: '' })),
  ),
  editOf('pods', (random, list, objects) =>
    changeOne(random, list, (pod) => attached(random, pod, objects.networkAttachments, objects)),
  ),
  editOf('pods', (random, list) => changeOne(random, list, (pod) => annotated(pod, { [networksKey]: '' }))),
]

/** Draws some edits of a world that has further networks, and gives the objects behind them. */
export function networksEdited(seed: number, objects: PolicyObjects): PolicyObjects {
  if (objects.networkAttachments.length === 0) return objects
  return withEdits(new Random(seed ^ 0x5ed17), edits, 3, objects)
}

function drawLate(random: Random, objects: PolicyObjects) {
  const names = objects.multiNetworkPolicies.map(({ metadata }) => metadata.name)
  let index = 90
  while (names.includes(`np-${index}`)) index += 1
  const drawn = drawMultiNetworkPolicy(random, index, objects)
  return { ...drawn, metadata: { ...drawn.metadata, uid: `uid-multi-${drawn.metadata.name}` } }
}
