import { list, switchedOn, text, wholeNumber } from '@kube-ovn/process'
import type { Command, ConfigOf } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'

const noEffect = 'Accepted for compatibility, without effect.'

/** Flags and environment of upstream's kube-ovn-monitor, and one of our own: it says so. */
const settings = {
  metricsPort: wholeNumber(10_661, 'Port of health checks and metrics.'),
  enableMetrics: switchedOn(true, 'Serve /metrics.'),
  enablePortMetrics: switchedOn(true, 'Show the three series of each logical switch port. New.'),
  labelLeaders: switchedOn(
    false,
    'Keep the labels ovn-nb-leader, ovn-sb-leader and ovn-northd-leader of the pods of ovn-central on this node. New.',
  ),
  ...secureServingSettings,
  kubeconfig: text(
    '',
    'File with the way to the API server, for secure serving and labels; empty inside a cluster. New.',
    {
      environment: 'KUBECONFIG',
    },
  ),
  logPerm: text('640', noEffect),
  timeout: wholeNumber(2, 'Seconds that a daemon or a database has to answer.', { flag: 'ovs.timeout' }),
  pollInterval: wholeNumber(30, 'Seconds between two looks at the daemons and their files.', {
    flag: 'ovs.poll-interval',
  }),
  northboundName: text('OVN_Northbound', noEffect, { flag: 'database.northbound.name' }),
  northboundRemote: text('unix:/run/ovn/ovnnb_db.sock', 'The Northbound of this node.', {
    flag: 'database.northbound.socket.remote',
  }),
  northboundControl: text('unix:/run/ovn/ovnnb_db.ctl', 'Control socket of its server.', {
    flag: 'database.northbound.socket.control',
  }),
  northboundFile: text('/etc/ovn/ovnnb_db.db', 'Its file.', { flag: 'database.northbound.file.data.path' }),
  northboundLog: text('/var/log/ovn/ovsdb-server-nb.log', 'Log of its server.', {
    flag: 'database.northbound.file.log.path',
  }),
  northboundPid: text('/run/ovn/ovnnb_db.pid', noEffect, { flag: 'database.northbound.file.pid.path' }),
  northboundPort: wholeNumber(6641, noEffect, { flag: 'database.northbound.port.default' }),
  northboundSslPort: wholeNumber(6631, noEffect, { flag: 'database.northbound.port.ssl' }),
  northboundRaftPort: wholeNumber(6643, noEffect, { flag: 'database.northbound.port.raft' }),
  southboundName: text('OVN_Southbound', noEffect, { flag: 'database.southbound.name' }),
  southboundRemote: text('unix:/run/ovn/ovnsb_db.sock', 'The Southbound of this node.', {
    flag: 'database.southbound.socket.remote',
  }),
  southboundControl: text('unix:/run/ovn/ovnsb_db.ctl', 'Control socket of its server.', {
    flag: 'database.southbound.socket.control',
  }),
  southboundFile: text('/etc/ovn/ovnsb_db.db', 'Its file.', { flag: 'database.southbound.file.data.path' }),
  southboundLog: text('/var/log/ovn/ovsdb-server-sb.log', 'Log of its server.', {
    flag: 'database.southbound.file.log.path',
  }),
  southboundPid: text('/run/ovn/ovnsb_db.pid', noEffect, { flag: 'database.southbound.file.pid.path' }),
  southboundPort: wholeNumber(6642, noEffect, { flag: 'database.southbound.port.default' }),
  southboundSslPort: wholeNumber(6632, noEffect, { flag: 'database.southbound.port.ssl' }),
  southboundRaftPort: wholeNumber(6644, noEffect, { flag: 'database.southbound.port.raft' }),
  northdLog: text('/var/log/ovn/ovn-northd.log', 'Log of ovn-northd.', {
    flag: 'service.ovn.northd.file.log.path',
  }),
  northdPid: text(
    '/var/run/ovn/ovn-northd.pid',
    'Process id of ovn-northd; its control socket is beside it.',
    {
      flag: 'service.ovn.northd.file.pid.path',
    },
  ),
  systemRunDir: text('/var/run/openvswitch', noEffect, { flag: 'system.run.dir' }),
  vswitchName: text('Open_vSwitch', noEffect, { flag: 'database.vswitch.name' }),
  vswitchRemote: text('unix:/var/run/openvswitch/db.sock', noEffect, {
    flag: 'database.vswitch.socket.remote',
  }),
  vswitchFile: text('/etc/openvswitch/conf.db', noEffect, { flag: 'database.vswitch.file.data.path' }),
  vswitchLog: text('/var/log/openvswitch/ovsdb-server.log', noEffect, {
    flag: 'database.vswitch.file.log.path',
  }),
  vswitchPid: text('/var/run/openvswitch/ovsdb-server.pid', noEffect, {
    flag: 'database.vswitch.file.pid.path',
  }),
  vswitchSystemId: text('/etc/openvswitch/system-id.conf', noEffect, {
    flag: 'database.vswitch.file.system.id.path',
  }),
  vswitchdLog: text('/var/log/openvswitch/ovs-vswitchd.log', noEffect, {
    flag: 'service.vswitchd.file.log.path',
  }),
  vswitchdPid: text('/var/run/openvswitch/ovs-vswitchd.pid', noEffect, {
    flag: 'service.vswitchd.file.pid.path',
  }),
  nodeName: text('', 'Own node: label hostname of the metrics.', {
    environment: 'NODE_NAME',
    isEnvironmentOnly: true,
  }),
  podNamespace: text('kube-system', 'Namespace of the pods of ovn-central.', {
    environment: 'POD_NAMESPACE',
    isEnvironmentOnly: true,
  }),
  podIps: list('', 'Own addresses.', { environment: 'POD_IPS', isEnvironmentOnly: true }),
  enableBindLocalIp: switchedOn(false, 'Listen on the own addresses only.', {
    environment: 'ENABLE_BIND_LOCAL_IP',
    isEnvironmentOnly: true,
  }),
} as const

export const command: Command<typeof settings> = {
  name: 'kube-ovn-monitor',
  summary: 'Shows the health of the OVN databases and of ovn-northd on its node as metrics.',
  examples: ['kube-ovn-monitor --ovs.poll-interval=10', 'kube-ovn-monitor --enable-port-metrics=false'],
  settings,
}

export type MonitorConfig = ConfigOf<typeof settings>
