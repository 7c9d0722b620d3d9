import {
  networkAnnotations,
  primaryProvider,
  type NetworkSelection,
  type Provider,
} from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { ControlSettings } from '../settings.ts'

export interface Attachment extends NetworkSelection {
  readonly namespace: string
}

type Settings = Pick<ControlSettings, 'nonPrimaryCni'>

/** What a pod asks Multus for, and whether it is in the first network as well. @throws AnnotationInvalidError */
export function askedOf(
  { metadata: { annotations, namespace = '' } }: Pod,
  { nonPrimaryCni }: Settings,
): { readonly hasPrimary: boolean; readonly attachments: readonly Attachment[] } {
  const first = networkAnnotations.first.read(annotations) ?? []
  const further = networkAnnotations.further.read(annotations) ?? []
  return {
    hasPrimary: first.length === 0 && !nonPrimaryCni,
    attachments: [...first, ...further].map((one) => ({ ...one, namespace: one.namespace ?? namespace })),
  }
}

/** The networks that a pod asks for, as policies name them, whether or not there are any; none where that can not be read. */
export function askedNetworks(pod: Pod, settings: Settings): readonly Provider[] {
  try {
    const { hasPrimary, attachments } = askedOf(pod, settings)
    return [...(hasPrimary ? [primaryProvider] : []), ...attachments.map(ovnProvider)]
  } catch (error) {
    if (error instanceof KubeOvnError) return []
    throw error
  }
}

/** Of a network whose NICs are ports of OVN. */
export function ovnProvider({ namespace, name }: Attachment): Provider {
  return `${name}.${namespace}.${primaryProvider}`
}
