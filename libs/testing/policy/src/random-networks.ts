import type { MultiNetworkPolicy, NetworkAttachmentDefinition } from '@kube-ovn/kube-api'
import type { NetworkPolicy, Pod } from '@kube-ovn/kube-api/core'
import type { Family } from '@kube-ovn/ip'
import { subnet } from '@kube-ovn/testing-builders'
import type { PolicyObjects } from './policy-world.ts'
import { spoilt } from './random-garbage.ts'
import { drawNetworkPolicy } from './random-network-policies.ts'
import { annotated } from './random-parts.ts'
import { Random } from './random.ts'

export const networksKey = 'k8s.v1.cni.cncf.io/networks'
/** A network in the place of the first one. */
const firstKey = 'v1.multus-cni.io/default-network'
export const networkPolicyForKey = 'ovn.kubernetes.io/network_policy_for'
export const policyForKey = 'k8s.v1.cni.cncf.io/policy-for'

const ranges = [
  { 4: '10.18.0.0/24', 6: 'fd00:10:18::/120' },
  { 4: '10.19.0.0/24', 6: 'fd00:10:19::/120' },
] as const

/** In one of seven worlds there are networks beside the first one, pods with NICs in them, and policies about these. */
export function withNetworks(
  seed: number,
  objects: PolicyObjects,
  families: readonly Family[],
): PolicyObjects {
  // Of its own, so that the rest of a world is what it was.
  const random = new Random(seed ^ 0x2e7)
  if (random.chance(0.85)) return objects
  const namespaces = objects.namespaces.map(({ metadata }) => metadata.name)
  const attachments = ranges.slice(0, random.between(1, 2)).map((range, index) => {
    const namespace = namespaces[index] ?? ''
    return {
      definition: attachment(namespace),
      subnet: subnet({
        name: `storage-${index}`,
        cidrBlock: families.map((family) => range[family]).join(','),
        provider: `storage.${namespace}.ovn`,
        ...random.maybe(0.2, () => ({ private: true })),
      }),
    }
  })
  const networkAttachments = attachments.map(({ definition }) => definition)
  const drawn: PolicyObjects = {
    ...objects,
    networkAttachments,
    subnets: [...objects.subnets, ...attachments.map((one) => one.subnet)],
    pods: objects.pods.map((pod) => {
      if (random.chance(0.2)) return pod
      const placed = random.chance(0.06)
        ? annotated(pod, { [firstKey]: networkText(networkAttachments[0]) })
        : pod
      return attached(random, placed, networkAttachments, objects)
    }),
  }
  const { networkPolicies } = objects
  return {
    ...drawn,
    networkPolicies: [
      ...networkPolicies.map((policy) => (random.chance(0.3) ? scoped(random, policy, drawn) : policy)),
      ...random.some(0, 2, (index) =>
        scoped(random, drawNetworkPolicy(random, networkPolicies.length + index, namespaces), drawn),
      ),
    ],
    multiNetworkPolicies: random.some(1, 3, (index) => drawMultiNetworkPolicy(random, index, drawn)),
  }
}

function attachment(namespace: string): NetworkAttachmentDefinition {
  const config = { cniVersion: '0.3.1', type: 'kube-ovn', provider: `storage.${namespace}.ovn` }
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace, name: 'storage' },
    spec: { config: JSON.stringify(config) },
  }
}

/** A pod that asks for NICs in some of the networks, in one of the ways that Multus knows. */
export function attached(
  random: Random,
  pod: Pod,
  all: readonly NetworkAttachmentDefinition[],
  { securityGroups }: Pick<PolicyObjects, 'securityGroups'>,
): Pod {
  const first = pod.metadata.annotations?.[firstKey]
  const networks = all
    .filter((definition) => random.chance(0.8) && networkText(definition) !== first)
    .map(({ metadata }) => metadata)
  const isTwice = random.chance(0.15)
  const selections = networks.flatMap(({ namespace = '', name }, at) =>
    (isTwice ? ['a', 'b'] : ['']).map((which) => ({
      ...{ namespace, name, interface: `net${at}${which}` },
    })),
  )
  const isOwn = (namespace: string): boolean => namespace === pod.metadata.namespace && random.chance(0.5)
  const text = random.chance(0.3)
    ? JSON.stringify(selections)
    : selections
        .map(({ namespace, name, interface: nic }) => {
          const path = isOwn(namespace) ? name : `${namespace}/${name}`
          return isTwice || random.chance(0.3) ? `${path}@${nic}` : path
        })
        .join(', ')
  const [group] = securityGroups
  const [nic] = selections
  if (group === undefined || nic === undefined || random.chance(0.6))
    return annotated(pod, { [networksKey]: text })
  const provider = `${nic.name}.${nic.namespace}.ovn${isTwice ? `.${nic.interface}` : ''}`
  return annotated(pod, {
    [`${provider}.kubernetes.io/security_groups`]: group.metadata.name,
    [networksKey]: text,
  })
}

/** The policy with an annotation for networks, some of which name none. */
export function scoped(
  random: Random,
  policy: NetworkPolicy,
  { networkAttachments }: Pick<PolicyObjects, 'networkAttachments'>,
): NetworkPolicy {
  const one = networkText(random.among(networkAttachments))
  const words = random.of(
    one,
    one,
    `ovn, ${one}`,
    'ovn',
    'OVN',
    '',
    'storage',
    'else/storage',
    'storage.a.ovn',
  )
  return annotated(onNetwork(random, policy), { [networkPolicyForKey]: words })
}

export function drawMultiNetworkPolicy(
  random: Random,
  index: number,
  { namespaces, networkAttachments }: Pick<PolicyObjects, 'namespaces' | 'networkAttachments'>,
): MultiNetworkPolicy {
  const drawn = drawNetworkPolicy(
    random,
    index,
    namespaces.map(({ metadata }) => metadata.name),
  )
  const all = networkAttachments.map(networkText)
  const one = random.among(all) ?? ''
  const words = random.of(one, one, one, 'storage', 'storage', all.join(', '), `a/b/c, ${one}`, 'ovn', '')
  const kind = { apiVersion: 'k8s.cni.cncf.io/v1beta1', kind: 'MultiNetworkPolicy' }
  const policy = annotated({ ...onNetwork(random, drawn), ...kind }, { [policyForKey]: words })
  return random.chance(0.2) ? spoilt(random, policy) : policy
}

function networkText(definition: NetworkAttachmentDefinition | undefined): string {
  const { namespace = '', name = '' } = definition?.metadata ?? {}
  return `${namespace}/${name}`
}

/** Half of the policies have their blocks of addresses in the second network in place of the first. */
function onNetwork<T extends NetworkPolicy>(random: Random, policy: T): T {
  if (random.chance(0.5)) return policy
  const text = JSON.stringify(policy)
    .replaceAll('"10.16.', '"10.18.')
    .replaceAll('fd00:10:16:', 'fd00:10:18:')
  return JSON.parse(text) as T
}
