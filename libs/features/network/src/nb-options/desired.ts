import { externalId } from '@kube-ovn/ovn-names'
import { nothing, singletonRef } from '@kube-ovn/reconcile'
import type { Desired, MapMember } from '@kube-ovn/reconcile'
import type { ControlSettings } from '@kube-ovn/domains-control'

/**
 * Computes the entries of NB_Global that shape how OVN compiles the rest.
 *
 * Only single entries are asked for: other entries of `options` belong to northd and to operators.
 *
 * @see ovn-nb(5), NB_Global
 */
export function desiredNorthboundOptions(settings: ControlSettings): Desired {
  return {
    ...nothing,
    members: [
      option('ls_dnat_mod_dl_dst', String(settings.lsDnatModDlDst)),
      option('ls_ct_skip_dst_lport_ips', String(settings.lsCtSkipDstLportIps)),
      option('use_ct_inv_match', 'false'),
      option('node_local_dns_ip', settings.nodeLocalDns.join(',')),
      option('skip_conntrack_dst_cidrs', settings.skipConntrackDstCidrs),
      {
        of: singletonRef('NB_Global'),
        column: 'external_ids',
        key: externalId.version,
        value: settings.version,
      },
    ],
  }
}

function option(key: string, value: string): MapMember {
  return { of: singletonRef('NB_Global'), column: 'options', key, value: value === '' ? undefined : value }
}
