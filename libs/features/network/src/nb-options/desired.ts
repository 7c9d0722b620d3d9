import { externalId } from '@kube-ovn/ovn-names'
import { nothing, singletonRef } from '@kube-ovn/reconcile'
import type { Desired, MapMember } from '@kube-ovn/reconcile'
import type { ConfigOf } from '@kube-ovn/process'
import type { ControlSettings } from '@kube-ovn/domains-control'
import type { northboundFlags } from './flags.ts'

/** What the options follow from. */
export interface OptionsSnapshot extends Pick<ControlSettings, 'nodeLocalDns' | 'version'> {
  readonly flags: ConfigOf<typeof northboundFlags>
}

/**
 * Computes the entries of NB_Global that shape how OVN compiles the rest.
 *
 * Only single entries are asked for: other entries of `options` belong to northd and to operators.
 *
 * @see ovn-nb(5), NB_Global
 */
export function desiredNorthboundOptions({ nodeLocalDns, version, flags }: OptionsSnapshot): Desired {
  const { northdBackoffIntervalMs: backoffMs } = flags
  return {
    ...nothing,
    members: [
      option('ls_dnat_mod_dl_dst', String(flags.lsDnatModDlDst)),
      option('ls_ct_skip_dst_lport_ips', String(flags.lsCtSkipDstLportIps)),
      option('use_ct_inv_match', 'false'),
      option('node_local_dns_ip', nodeLocalDns.join(',')),
      option('skip_conntrack_dst_cidrs', flags.skipConntrackDstCidrs),
      // Theirs may be there already.
      ...(backoffMs < 0 ? [] : [option('northd-backoff-interval-ms', String(backoffMs))]),
      {
        of: singletonRef('NB_Global'),
        column: 'external_ids',
        key: externalId.version,
        value: version,
      },
    ],
  }
}

function option(key: string, value: string): MapMember {
  return { of: singletonRef('NB_Global'), column: 'options', key, value: value === '' ? undefined : value }
}
