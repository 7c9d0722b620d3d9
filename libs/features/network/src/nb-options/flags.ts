import { switchedOn, text, wholeNumber } from '@kube-ovn/process'

export const northboundFlags = {
  lsDnatModDlDst: switchedOn(true, 'NB_Global option ls_dnat_mod_dl_dst.'),
  lsCtSkipDstLportIps: switchedOn(true, 'NB_Global option ls_ct_skip_dst_lport_ips.'),
  skipConntrackDstCidrs: text('', 'Destinations that pass connection tracking by.'),
  northdBackoffIntervalMs: wholeNumber(
    -1,
    'ovn-northd pauses after a run for as long as it took, at most so many milliseconds; 0 for no pause, -1 leaves it to operators.',
    {},
    [-1, 10_000],
  ),
} as const
