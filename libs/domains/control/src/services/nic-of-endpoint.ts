import { placedNics, type PlacedNic } from '@kube-ovn/annotations'
import { formatIp, tryParseIp } from '@kube-ovn/ip'
import type { Endpoint, Pod } from '@kube-ovn/kube-api/core'
import type { ViewOf } from '@kube-ovn/tables'
import { needsPort } from '../pods/alive.ts'
import type { pods } from '../sources.ts'
import { storeIndex } from '../watched-kinds.ts'

export interface PodsView {
  readonly pods: Pick<ViewOf<typeof pods>, 'get' | 'find' | 'some'>
}

/** The NIC of a Pod that has an address. */
export interface PlacedAddress {
  readonly address: string
  readonly pod: Pod
  readonly nic: PlacedNic
}

/** Finds the NICs that have the addresses of an endpoint: of the Pod that it names, else of those in its namespace. */
export function nicsOfEndpoint(
  { addresses, targetRef }: Endpoint,
  namespace: string,
  { pods }: PodsView,
): readonly PlacedAddress[] {
  const named = targetRef?.name
  // Most endpoints without a Pod are outside: one question in the place of one for each of their addresses.
  if (named === undefined && !pods.some(storeIndex.podsByAddress, `${namespace}/`)) return []
  const texts = addresses.flatMap((text) => {
    const ip = tryParseIp(text)
    return ip === undefined ? [] : [formatIp(ip)]
  })
  const found =
    named === undefined
      ? texts.flatMap((text) => pods.find(storeIndex.podsByAddress, `${namespace}/${text}`).filter(needsPort))
      : [pods.get(`${targetRef?.namespace ?? namespace}/${named}`)]
  return [...new Set(found)].flatMap((pod) =>
    pod === undefined
      ? []
      : placedNics(pod.metadata.annotations).flatMap((nic) =>
          texts
            .filter((address) => nic.addresses.includes(address))
            .map((address) => ({ address, pod, nic })),
        ),
  )
}
