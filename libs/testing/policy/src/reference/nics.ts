import type { Pod } from '@kube-ovn/kube-api/core'
import type { Endpoint } from '../packet.ts'

/** A NIC of a pod. */
export interface Nic {
  /** Names the annotations about it. */
  readonly provider: string
  /** `namespace/name` of what attaches it, or `ovn` for the network that every pod is in. */
  readonly network: string
}

export const firstNetwork = 'ovn'

interface Selection {
  readonly namespace: string
  readonly name: string
  readonly interface: string | undefined
}

/**
 * The NICs of a pod: that of the first network, unless another one is in its place, and those that it asks Multus for. Of several in one network each is
 * told by its name in the pod.
 *
 * @see "Kubernetes Network Custom Resource Definition De-facto Standard", version 1.3, section 4.1, and docs/reference/annotations.md
 */
export function nicsOf(pod: Pod): readonly Nic[] {
  const instead = selectionsOf(pod, 'v1.multus-cni.io/default-network')
  const selections = [...instead, ...selectionsOf(pod, 'k8s.v1.cni.cncf.io/networks')]
  const first = { provider: firstNetwork, network: firstNetwork }
  return [
    ...(instead.length === 0 ? [first] : []),
    ...selections.map(({ namespace, name, interface: nic }) => {
      const isSame = (other: Selection): boolean => other.namespace === namespace && other.name === name
      const isOneOfSeveral = selections.filter(isSame).length > 1
      const suffix = isOneOfSeveral && nic !== undefined ? `.${nic}` : ''
      return { provider: `${name}.${namespace}.ovn${suffix}`, network: `${namespace}/${name}` }
    }),
  ]
}

/** That which has the address. */
export function nicOf(pod: Pod, end: Endpoint): Nic | undefined {
  const provider = end.kind === 'pod' ? (end.provider ?? firstNetwork) : undefined
  return nicsOf(pod).find((nic) => nic.provider === provider)
}

/** What a pod is told, or asks for, about a NIC. */
export function annotationOf(pod: Pod, { provider }: Pick<Nic, 'provider'>, name: string): string {
  return pod.metadata.annotations?.[`${provider}.kubernetes.io/${name}`] ?? ''
}

function selectionsOf({ metadata }: Pod, key: string): readonly Selection[] {
  const text = metadata.annotations?.[key] ?? ''
  const { namespace: own = '' } = metadata
  if (text.startsWith('['))
    return (JSON.parse(text) as readonly Partial<Selection>[]).map(
      ({ namespace = own, name = '', interface: nic }) => ({ namespace, name, interface: nic }),
    )
  const words = text.split(',').map((word) => word.trim())
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const [path = '', nic] = word.split('@')
      const [name = '', namespace = own] = path.split('/').reverse()
      return { namespace, name, interface: nic }
    })
}
