import { list, oneOf, switchedOn, text, wholeNumber } from '@kube-ovn/process'
import type { Command, ConfigOf } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'

/** Flags and environment of upstream's kube-ovn-pinger, and some of our own: they say so. */
const settings = {
  port: wholeNumber(8080, 'Port of health checks and metrics.'),
  mode: text('server', 'server checks again and again; anything else, e.g. job, checks once and ends.'),
  interval: wholeNumber(5, 'Seconds between two rounds, give or take a fifth.'),
  exitCode: wholeNumber(1, 'How the process ends when a check of a job failed; 0 to always end well.'),
  internalDns: text('kubernetes.default', 'Name that has to be found; empty for none.'),
  externalDns: text('', 'Name outside of the cluster that has to be found; empty for none.'),
  externalAddress: list('', 'Addresses outside of the cluster to ping, separated by commas; empty for none.'),
  targetIpPorts: list('', 'Ports to try, as tcp-10.0.0.1-80,udp-fd00::1-53.'),
  services: list('', 'Services whose TCP ports to try, as NAMESPACE/NAME. New.'),
  networkMode: text('kube-ovn', 'Anything else leaves Open vSwitch and OVN unchecked.'),
  sampleSize: wholeNumber(50, 'Nodes, and pingers, that one pinger asks at most; 0 for all. New.'),
  podSelector: text('app=kube-ovn-pinger', 'Labels of the pods to ping, in the own namespace. New.'),
  output: oneOf(['text', 'json', 'svg'], 'text', 'What a job prints: svg is a matrix of latencies. New.'),
  enableMetrics: switchedOn(true, 'Serve /metrics.'),
  ...secureServingSettings,
  enableVerboseConnCheck: switchedOn(false, 'Try TCP and UDP ports of nodes and pods, and answer there.'),
  tcpConnCheckPort: wholeNumber(8100, 'Port for that.'),
  udpConnCheckPort: wholeNumber(8101, 'Port for that.'),
  kubeconfig: text('', 'File with the way to the API server; empty inside a cluster.', {
    environment: 'KUBECONFIG',
  }),
  logPerm: text('640', 'Accepted for compatibility, without effect.'),
  ovsTimeout: wholeNumber(2, 'Seconds that Open vSwitch has to answer.', { flag: 'ovs.timeout' }),
  ovsPollInterval: wholeNumber(15, 'Accepted for compatibility, without effect.', {
    flag: 'ovs.poll-interval',
  }),
  systemRunDir: text('/var/run/openvswitch', 'Accepted for compatibility, without effect.', {
    flag: 'system.run.dir',
  }),
  databaseName: text('Open_vSwitch', 'Accepted for compatibility, without effect.', {
    flag: 'database.vswitch.name',
  }),
  databaseRemote: text('unix:/var/run/openvswitch/db.sock', 'The database of Open vSwitch.', {
    flag: 'database.vswitch.socket.remote',
  }),
  databaseFile: text('/etc/openvswitch/conf.db', 'File of the database of Open vSwitch.', {
    flag: 'database.vswitch.file.data.path',
  }),
  databaseLog: text('/var/log/openvswitch/ovsdb-server.log', 'Log of ovsdb-server.', {
    flag: 'database.vswitch.file.log.path',
  }),
  databasePid: text('/var/run/openvswitch/ovsdb-server.pid', 'Process id of ovsdb-server.', {
    flag: 'database.vswitch.file.pid.path',
  }),
  databaseSystemId: text('/etc/openvswitch/system-id.conf', 'Accepted for compatibility, without effect.', {
    flag: 'database.vswitch.file.system.id.path',
  }),
  vswitchdLog: text('/var/log/openvswitch/ovs-vswitchd.log', 'Log of ovs-vswitchd.', {
    flag: 'service.vswitchd.file.log.path',
  }),
  vswitchdPid: text('/var/run/openvswitch/ovs-vswitchd.pid', 'Process id of ovs-vswitchd.', {
    flag: 'service.vswitchd.file.pid.path',
  }),
  controllerLog: text('/var/log/ovn/ovn-controller.log', 'Accepted for compatibility, without effect.', {
    flag: 'service.ovncontroller.file.log.path',
  }),
  controllerPid: text('/var/run/ovn/ovn-controller.pid', 'Process id of ovn-controller.', {
    flag: 'service.ovncontroller.file.pid.path',
  }),
  podName: text('', 'Own pod.', { environment: 'POD_NAME', isEnvironmentOnly: true }),
  podNamespace: text('kube-system', 'Own namespace.', {
    environment: 'POD_NAMESPACE',
    isEnvironmentOnly: true,
  }),
  podIps: list('', 'Own addresses; only their families are checked.', {
    environment: 'POD_IPS',
    isEnvironmentOnly: true,
  }),
  hostIp: text('', 'Address of the own node.', { environment: 'HOST_IP', isEnvironmentOnly: true }),
  nodeName: text('', 'Own node.', { environment: 'NODE_NAME', isEnvironmentOnly: true }),
  enableBindLocalIp: switchedOn(false, 'Listen on the own addresses only.', {
    environment: 'ENABLE_BIND_LOCAL_IP',
    isEnvironmentOnly: true,
  }),
} as const

export const command: Command<typeof settings> = {
  name: 'kube-ovn-pinger',
  summary: 'Tells whether the network of a node works: asks pods, nodes, Services, names and Open vSwitch.',
  examples: [
    'kube-ovn-pinger --external-address=192.0.2.1,2001:db8::1',
    'kube-ovn-pinger --mode=job --target-ip-ports=tcp-10.96.0.1-443',
    'kube-ovn-pinger --mode=job --output=svg > latency.svg',
  ],
  settings,
}

export type PingerConfig = ConfigOf<typeof settings>
