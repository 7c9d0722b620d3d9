import { egressFirewallName } from '@kube-ovn/kube-api'
import { parseEgressFirewall, type ParsedEgressFirewall } from '@kube-ovn/policy'
import { rowTable } from '@kube-ovn/tables'
import { egressFirewalls, settingsOf, settingsTable } from '../sources.ts'

/** An EgressFirewall, read. */
interface ReadFirewall {
  readonly key: string
  readonly namespace: string
  /** It has the name that counts. */
  readonly isInEffect: boolean
  readonly firewall: ParsedEgressFirewall
}

/** EgressFirewalls by `namespace/name`. */
export const readFirewalls = rowTable({
  name: 'read-egress-firewalls',
  of: egressFirewalls,
  reads: { settingsTable },
  row: (object, views, key): ReadFirewall => ({
    ...{ key, namespace: object.metadata.namespace ?? '' },
    isInEffect: object.metadata.name === egressFirewallName,
    firewall: parseEgressFirewall(object, {
      followsNames: settingsOf(views.settingsTable).enableDnsNameResolver,
    }),
  }),
  indexes: {
    key: ({ key }: ReadFirewall) => [key],
    inEffect: ({ isInEffect }: ReadFirewall) => (isInEffect ? [''] : []),
  },
})
