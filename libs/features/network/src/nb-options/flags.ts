import { switchedOn, text } from '@kube-ovn/process'

export const northboundFlags = {
  lsDnatModDlDst: switchedOn(true, 'NB_Global option ls_dnat_mod_dl_dst.'),
  lsCtSkipDstLportIps: switchedOn(true, 'NB_Global option ls_ct_skip_dst_lport_ips.'),
  skipConntrackDstCidrs: text('', 'Destinations that pass connection tracking by.'),
} as const
