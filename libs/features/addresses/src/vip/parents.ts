import { readBorrowedVips, readSharedVips } from '@kube-ovn/annotations'
import { mostEntries } from '@kube-ovn/ip'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Vip } from '@kube-ovn/kube-api'
import { readLabelTerm } from '@kube-ovn/label-selector'
import { portsOn } from '@kube-ovn/domains-control/pods'
import { type ControlWorld, storeIndex } from '@kube-ovn/domains-control'
import { VipInvalidError } from './errors.ts'

/** Labels and their values. */
export type Labels = readonly (readonly [key: string, value: string])[]

/** Reads which labels the pods that share a Vip must have. @throws VipInvalidError naming `spec.selector` */
export function labelsOf({ metadata: { name }, spec }: Vip): Labels {
  const { selector = [] } = spec ?? {}
  if (selector.length > mostEntries) {
    const [field, value] = ['spec.selector', `${selector.length} entries`]
    throw new VipInvalidError({ vip: name, field, value, cure: `write at most ${mostEntries} labels` })
  }
  return selector.map((text) => readTerm(name, text))
}

/**
 * Finds the ports that may have the addresses of a Vip beside their own: of the pods in its namespace that name it and
 * have these labels.
 */
export function parentsOf(vip: Vip, labels: Labels, subnet: string, world: ControlWorld): readonly string[] {
  const namespace = vip.spec?.namespace ?? ''
  const ports = world.pods
    .find(storeIndex.podsBySharedVip, vip.metadata.name)
    .filter((pod) => pod.metadata.namespace === namespace)
    .filter((pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value))
    .flatMap((pod) => portsOn(pod, subnet, world)[0]?.port ?? [])
  return [...new Set(ports)].sort()
}

function readTerm(vip: string, text: string): readonly [string, string] {
  const term = readLabelTerm(text)
  if (term !== undefined) return term
  throw new VipInvalidError({
    vip,
    field: 'spec.selector',
    value: text,
    cure: 'write a label and its value, separated by a colon, like app:web',
  })
}

/** Names of the Vips that a pod shares or borrows. */
export function vipsOf(pod: Pod | undefined): readonly string[] {
  const annotations = pod?.metadata.annotations
  return [...readSharedVips(annotations), ...readBorrowedVips(annotations)]
}
