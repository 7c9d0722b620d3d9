import { programs } from '../paths.ts'
import { configurationDirectory } from './control-plane.ts'
import { bridgeConflist } from './node-machine.ts'
import type { PodNetwork } from './topology.ts'

/** Where nodes find Multus, as it was built. */
const multusDirectory = '/opt/multus'

/** Who Multus is to the API server. */
export const multusUser = 'multus'

export const multusMount = `${programs.multus}:${multusDirectory}:ro`

/** File names below the directory of a node's configuration. */
export const multusFiles = { configuration: 'multus.conf', kubeconfig: 'multus.kubeconfig' } as const

/** What containerd calls on every node in the place of the pod network's plugin, which Multus calls first. */
export function renderMultusConfiguration(podNetwork: PodNetwork): string {
  const own = podNetwork === 'bridge' ? `10-${bridgeConflist}` : '01-kube-ovn.conflist'
  return JSON.stringify({
    // containerd 1.7 knows no later one.
    cniVersion: '1.0.0',
    name: 'multus',
    type: 'multus',
    kubeconfig: `${configurationDirectory}/${multusFiles.kubeconfig}`,
    clusterNetwork: `/etc/cni/net.d/${own}`,
    readinessindicatorfile: `/etc/cni/net.d/${own}`,
    capabilities: { portMappings: true },
  })
}

/** Multus and the plugins that further networks are usually made with; its configuration comes first by name. */
export const multusPreparation: readonly string[] = [
  'mkdir -p /opt/cni/bin /etc/cni/net.d',
  `cp ${multusDirectory}/multus ${['bridge', 'macvlan', 'static', 'host-local'].map((name) => `/usr/lib/cni/${name}`).join(' ')} /opt/cni/bin/`,
  `cp ${configurationDirectory}/${multusFiles.configuration} /etc/cni/net.d/00-multus.conf`,
]
