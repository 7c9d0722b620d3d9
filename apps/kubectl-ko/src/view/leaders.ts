import type { Pod } from '@kube-ovn/kube'
import { leaderLabels } from '../leader-labels.ts'

/** The pods of ovn-central that lead; none where nobody does, or says so. */
export interface Leaders {
  readonly nb: string | undefined
  readonly sb: string | undefined
  readonly northd: string | undefined
}

/** What is led, as people know it. */
export const ledNames: Readonly<Record<keyof Leaders, string>> = {
  nb: 'OVN_Northbound',
  sb: 'OVN_Southbound',
  northd: 'ovn-northd',
}

/** By the labels that the checker of leaders keeps, of pods of the components' namespace. */
export function leadersOf(pods: readonly Pod[], namespace: string): Leaders {
  const members = pods.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === 'ovn-central',
  )
  const leaderOf = (led: keyof Leaders): string | undefined =>
    members.find(
      ({ metadata, status }) =>
        metadata.labels?.[leaderLabels[led]] === 'true' &&
        status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    )?.metadata.name
  return { nb: leaderOf('nb'), sb: leaderOf('sb'), northd: leaderOf('northd') }
}
