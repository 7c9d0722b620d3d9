import { addressRequestKeys } from '@kube-ovn/annotations'
import type { Workload } from '@kube-ovn/kube-api/core'

/** Finds annotations of a workload that ask for addresses and that its pods do not get: its template lacks them. */
export function misplacedRequests({ metadata, spec }: Workload): Readonly<Record<string, string>> {
  const template = spec?.template?.metadata?.annotations
  return Object.fromEntries(
    addressRequestKeys().flatMap((key) => {
      const value = metadata.annotations?.[key]
      return value === undefined || template?.[key] !== undefined ? [] : [[key, value]]
    }),
  )
}
