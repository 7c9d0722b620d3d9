import { list, text, type Command, type ConfigOf } from '@kube-ovn/process'
import { agentSocket } from '../protocol/socket.ts'
import { defaultVersion } from './configuration.ts'

const settings = {
  cniConfDir: text('/etc/cni/net.d', 'Directory of the CNI configuration.'),
  cniConfFile: text('', 'Accepted for compatibility: the content is built in.'),
  cniConfName: text('01-kube-ovn.conflist', 'File name of the CNI configuration.'),
  cniBinDir: text('/opt/cni/bin', 'Directory of the CNI plugins.'),
  toolingDir: text('', 'Directory that the command kubectl-ko is put into; empty: it is not installed.'),
  hostCniBinDir: text(
    '/opt/cni/bin',
    'Where --cni-bin-dir is on the host: kubectl-ko runs by the plugin in it.',
  ),
  cniVersions: list(
    '',
    'Versions of the CNI specification that the configuration is for; empty: what somebody wrote into the file, else ' +
      `${defaultVersion}.`,
  ),
  sourceDirs: list('/kube-ovn', 'Directories that the plugins are copied from; the first that has one wins.'),
  serverSocket: text(agentSocket, 'Unix socket of the agent.'),
  ovsSocket: text('/run/openvswitch/db.sock', 'Unix socket of the local Open vSwitch database.'),
  podIps: list('', 'Own addresses: they tell which families the node forwards.', {
    environment: 'POD_IPS',
    isEnvironmentOnly: true,
  }),
} as const

export const command: Command<typeof settings> = {
  name: 'cni-install',
  summary:
    'Prepares a node for the CNI plugin (install), or takes everything of the product off it (uninstall, cleanup). ' +
    'An upgrade or a restart of the agent never calls the latter.',
  examples: ['cni-install install --cni-conf-name=01-kube-ovn.conflist', 'cni-install uninstall'],
  settings,
}

export type InstallConfig = ConfigOf<typeof settings>
