import { allocatedNics, networkOfNic, primaryProvider } from '@kube-ovn/annotations'
import type { Family } from '@kube-ovn/ip'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Labels, LabelSelector } from '@kube-ovn/label-selector'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { needsPort } from '../pods/alive.ts'
import { askedNetworks } from '../pods/asked-networks.ts'
import { namespaces, pods, settingsOf, settingsTable } from '../sources.ts'
import { namespaceBindings, subnetsOfNamespace } from '../topology/namespace-bindings.ts'
import { familiesOf } from '../topology/network.ts'
import { prefixes, subnetProviders } from '../topology/attachments.ts'
import { readFirewalls } from './read-firewalls.ts'

/** A pod with its own labels and those of its namespace, so that one selection looks at both. */
interface LabelledPod {
  readonly namespace: string
  readonly labels: Labels
  /** Named ports of its containers, the name as `protocol/name`. */
  readonly ports: readonly { readonly name: string; readonly number: number }[]
}

const ofPods = 'pod:'
const ofNamespaces = 'namespace:'

/** Selectors of pods, and of pods by their namespace, in terms of {@link labelledPods}. */
export const podLabels = {
  pods: (selector: LabelSelector): LabelSelector => prefixed(selector, ofPods),
  both(pods: LabelSelector, namespaces: LabelSelector): LabelSelector {
    const [own, around] = [prefixed(pods, ofPods), prefixed(namespaces, ofNamespaces)]
    return {
      matchLabels: { ...own.matchLabels, ...around.matchLabels },
      matchExpressions: [...(own.matchExpressions ?? []), ...(around.matchExpressions ?? [])],
    }
  },
} as const

function prefixed({ matchLabels = {}, matchExpressions = [] }: LabelSelector, prefix: string): LabelSelector {
  return {
    matchLabels: withPrefix(matchLabels, prefix),
    matchExpressions: matchExpressions.map((one) => ({ ...one, key: `${prefix}${one.key}` })),
  }
}

function withPrefix(labels: Labels, prefix: string): Labels {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${prefix}${key}`, value]))
}

/** Pods that policies can be for or about: those with a network of their own that run, or are about to. */
export const labelledPods = rowTable({
  name: 'labelled-pods',
  of: pods,
  reads: { settingsTable, readFirewalls, namespaces },
  row: (pod, { namespaces, ...views }): LabelledPod | undefined => {
    if (!hasPolicies(views) || !needsPort(pod)) return undefined
    const { namespace = '', labels = {} } = pod.metadata
    return {
      namespace,
      labels: {
        ...withPrefix(labels, ofPods),
        ...withPrefix(namespaces.get(namespace)?.metadata.labels ?? {}, ofNamespaces),
      },
      ports: containerPorts(pod),
    }
  },
})

interface PolicyViews {
  readonly settingsTable: ViewOf<typeof settingsTable>
  readonly readFirewalls: ViewOf<typeof readFirewalls>
}

/** Whether policies of any API are enforced. */
function hasPolicies({ settingsTable, readFirewalls }: PolicyViews): boolean {
  const { enableNp, enableAnp } = settingsOf(settingsTable)
  return enableNp || enableAnp || readFirewalls.some('inEffect', '')
}

function containerPorts({ spec }: Pod): LabelledPod['ports'] {
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, containerPort, protocol = 'TCP' }) =>
      name === undefined ? [] : [{ name: `${protocol.toLowerCase()}/${name}`, number: containerPort }],
    ),
  )
}

/** A NIC of a pod, as far as policies go by it. */
interface PolicyNic {
  readonly provider: string
  readonly families: readonly Family[]
  /** It has its addresses; else they are those that it will have, as far as anybody knows. */
  readonly isPlaced: boolean
}

/** The NICs of pods. */
export const policyNics = rowTable({
  name: 'policy-nics',
  of: pods,
  reads: { settingsTable, readFirewalls, namespaceBindings, subnetProviders, prefixes },
  row: (
    pod,
    { namespaceBindings, subnetProviders, prefixes, ...views },
  ): readonly PolicyNic[] | undefined => {
    if (!hasPolicies(views) || !needsPort(pod)) return undefined
    const settings = settingsOf(views.settingsTable)
    const { annotations, namespace = '' } = pod.metadata
    const placed = allocatedNics(annotations).map((nic): PolicyNic => ({ ...nic, isPlaced: true }))
    const networks = new Set(placed.map(({ provider }) => networkOfNic(provider)))
    const waiting = askedNetworks(pod, settings).filter((provider) => !networks.has(provider))
    return [
      ...placed,
      ...waiting.map((provider): PolicyNic => {
        const subnets =
          provider === primaryProvider
            ? subnetsOfNamespace(namespace, { namespaceBindings, settings })
            : subnetProviders.keys('provider', provider)
        const families = subnets.flatMap((subnet) => {
          const known = prefixes.get(subnet)
          return known === undefined ? [] : familiesOf(known).map(({ family }) => family)
        })
        return {
          provider,
          families: ([4, 6] as const).filter((family) => families.includes(family)),
          isPlaced: false,
        }
      }),
    ]
  },
})
