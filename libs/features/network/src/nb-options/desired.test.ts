import { describe, expect, it } from 'vitest'
import { defaultsOf } from '@kube-ovn/process'
import { shownMembers } from '@kube-ovn/domains-control/testing/shown'
import { desiredNorthboundOptions } from './desired.ts'
import { northboundFlags } from './flags.ts'

const version = 'v1.17.0'

describe('desiredNorthboundOptions', () => {
  it('has no entry for what is switched off by an empty flag', () => {
    const snapshot = { nodeLocalDns: [], version, flags: defaultsOf(northboundFlags) }
    expect(shownMembers(desiredNorthboundOptions(snapshot))).toEqual([
      'NB_Global options: ls_dnat_mod_dl_dst=true',
      'NB_Global options: ls_ct_skip_dst_lport_ips=true',
      'NB_Global options: use_ct_inv_match=false',
      'NB_Global options: node_local_dns_ip=(none)',
      'NB_Global options: skip_conntrack_dst_cidrs=(none)',
      'NB_Global external_ids: kube-ovn-version=v1.17.0',
    ])
  })

  it('says what the flags say', () => {
    const flags = {
      lsDnatModDlDst: false,
      lsCtSkipDstLportIps: false,
      skipConntrackDstCidrs: '10.0.0.0/8,fd00::/8',
      northdBackoffIntervalMs: 300,
    }
    const snapshot = { nodeLocalDns: ['169.254.25.10', 'fd00:a::a'], version, flags }
    expect(shownMembers(desiredNorthboundOptions(snapshot)).slice(0, 6)).toEqual([
      'NB_Global options: ls_dnat_mod_dl_dst=false',
      'NB_Global options: ls_ct_skip_dst_lport_ips=false',
      'NB_Global options: use_ct_inv_match=false',
      'NB_Global options: node_local_dns_ip=169.254.25.10,fd00:a::a',
      'NB_Global options: skip_conntrack_dst_cidrs=10.0.0.0/8,fd00::/8',
      'NB_Global options: northd-backoff-interval-ms=300',
    ])
  })
})
