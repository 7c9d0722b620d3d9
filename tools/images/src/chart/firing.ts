/**
 * Series by which an alert fires that a drill of the lab fires too, in the notation of `promtool test rules`: a value each minute. What others
 * fire by is in `own-series.ts`.
 */
export const firing: Readonly<Record<string, readonly (readonly [series: string, values: string])[]>> = {
  KubeOvnControllerDown: [['up{job="kube-ovn-controller",instance="a"}', '0x30']],
  KubeOvnControllerAbsent: [],
  KubeOvnDatabaseDisconnected: [['kube_ovn_database_connected{db="OVN_Northbound"}', '0x30']],
  KubeOvnAgentDown: [['up{job="kube-ovn-cni",instance="b"}', '0x30']],
  KubeOvnExporterDown: [['up{job="kube-ovn-speaker",instance="c"}', '0x30']],
  KubeOvnOvsDown: [['pinger_ovs_down{nodeName="n1"}', '1x30']],
  KubeOvnOvnControllerDown: [['pinger_ovn_controller_down{nodeName="n1"}', '1x30']],
  KubeOvnInternalDNSUnhealthy: [['pinger_internal_dns_unhealthy{nodeName="n1"}', '1x30']],
  KubeOvnPodsUnreachable: [
    [
      'pinger_pod_ping_lost_total{src_node_name="n1",target_node_name="n2",target_pod_ip="10.16.0.2"}',
      '0+9x30',
    ],
    [
      'pinger_pod_ping_count_total{src_node_name="n1",target_node_name="n2",target_pod_ip="10.16.0.2"}',
      '0+36x30',
    ],
  ],
  KubeOvnNodesUnreachable: [
    ['pinger_node_ping_lost_total{src_node_name="n1",target_node_name="n2"}', '0+9x30'],
    ['pinger_node_ping_count_total{src_node_name="n1",target_node_name="n2"}', '0+36x30'],
  ],
  KubeOvnPortBindingsMissing: [['pinger_inconsistent_port_binding{nodeName="n1"}', '2x30']],
  KubeOvnExporterBlind: [['kube_ovn_ovs_status{hostname="n1",component="ovs-vswitchd"}', '0x30']],
  KubeOvnDatabaseStorageFailed: [['kube_ovn_db_status{hostname="n1",db_name="OVN_Northbound"}', '0x30']],
  KubeOvnNorthdInactive: [['kube_ovn_ovn_status{hostname="n1",component="ovn-northd"}', '2x30']],
  KubeOvnDatabaseWithoutLeader: [
    ['kube_ovn_cluster_leader_self{hostname="n1",db_name="OVN_Northbound"}', '0x30'],
  ],
  KubeOvnRaftPeerLost: [
    ['kube_ovn_cluster_outbound_connections_error_total{hostname="n1",db_name="OVN_Northbound"}', '1x30'],
  ],
  KubeOvnMonitorBlind: [['kube_ovn_monitor_source_up{hostname="n1",source="northbound"}', '0x30']],
}

/** The same of a cluster in which all is well. */
export const well: readonly (readonly [series: string, values: string])[] = [
  ['up{job="kube-ovn-controller",instance="z"}', '1x30'],
  ['up{job="kube-ovn-cni",instance="z"}', '1x30'],
  ['up{job="kube-ovn-speaker",instance="z"}', '1x30'],
  // Others' is not ours to watch.
  ['up{job="kube-ovn-pinger-of-mine",instance="z"}', '0x30'],
  ['leader_election_master_status{name="kube-ovn-controller",instance="z"}', '1x30'],
  ['subnet_used_ip_count{subnet_name="red",protocol="IPv4",subnet_cidr="10.2.0.0/24"}', '3x30'],
  ['subnet_available_ip_count{subnet_name="red",protocol="IPv4",subnet_cidr="10.2.0.0/24"}', '250x30'],
  ['kube_ovn_database_connected{db="OVN_Northbound",instance="z"}', '1x30'],
  ['kube_ovn_address_findings{rule="lost-address"}', '0x30'],
  ['kube_ovn_orphans_held{kind="acl"}', '0x30'],
  ['cni_op_latency_seconds_count{node_name="n9",method="/api/v1/add",status_code="200"}', '0+30x30'],
  // A removal that went well answers otherwise.
  ['cni_op_latency_seconds_count{node_name="n9",method="/api/v1/del",status_code="204"}', '0+30x30'],
  ['pinger_ovs_down{nodeName="n9"}', '0x30'],
  ['pinger_ovn_controller_down{nodeName="n9"}', '0x30'],
  ['pinger_apiserver_unhealthy{nodeName="n9"}', '0x30'],
  ['pinger_internal_dns_unhealthy{nodeName="n9"}', '0x30'],
  ['pinger_inconsistent_port_binding{nodeName="n9"}', '0x30'],
  ['pinger_pod_ping_lost_total{src_node_name="n9",target_node_name="n8"}', '0x30'],
  ['pinger_pod_ping_count_total{src_node_name="n9",target_node_name="n8"}', '0+36x30'],
  ['pinger_node_ping_lost_total{src_node_name="n9",target_node_name="n8"}', '0x30'],
  ['pinger_node_ping_count_total{src_node_name="n9",target_node_name="n8"}', '0+36x30'],
  ['kube_ovn_dp_flows_lookup_lost{hostname="n9",datapath="ovs-system"}', '5x30'],
  ['kube_ovn_ovs_status{hostname="n9",component="ovs-vswitchd"}', '1x30'],
  ['kube_ovn_db_status{hostname="n9",db_name="OVN_Northbound"}', '1x30'],
  ['kube_ovn_ovn_status{hostname="n9",component="ovn-northd"}', '1x30'],
  ['kube_ovn_ovn_status{hostname="n8",component="ovn-northd"}', '2x30'],
  ['kube_ovn_cluster_leader_self{hostname="n9",db_name="OVN_Southbound"}', '1x30'],
  ['kube_ovn_cluster_leader_self{hostname="n8",db_name="OVN_Southbound"}', '0x30'],
  ['kube_ovn_cluster_outbound_connections_error_total{hostname="n9",db_name="OVN_Southbound"}', '0x30'],
  ['kube_ovn_inconsistent_objects{hostname="n9",kind="port-without-binding"}', '0x30'],
  ['kube_ovn_monitor_source_up{hostname="n9",source="northbound"}', '1x30'],
  ['kube_ovn_speaker_bgp_peer_up{node="n9",peer="192.0.2.9",peer_asn="65001"}', '1x30'],
  ['kube_ovn_speaker_routes_advertised{node="n9",peer="192.0.2.9",peer_asn="65001"}', '3x30'],
  ['kube_ovn_speaker_routes_wanted{node="n9",peer="192.0.2.9",peer_asn="65001"}', '3x30'],
]
