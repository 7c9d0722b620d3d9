import { runAt } from '@kube-ovn/lab'
import type { Cluster } from '@kube-ovn/lab'

/** containerd takes the configuration that sorts first; ours is 01-kube-ovn.conflist. */
const conflist = '/etc/cni/net.d/00-bridge.conflist'

const plugins = ['bridge', 'host-local', 'portmap', 'loopback'].map((name) => `/usr/lib/cni/${name}`)

/** Lets pods that are created from now on use the plain bridge plugin, with addresses that nothing else uses. */
export async function installBridge(cluster: Cluster): Promise<void> {
  for (const [index, node] of cluster.nodes.entries()) {
    await runAt(node.place, ['cp', ...plugins, '/opt/cni/bin/'])
    await runAt(node.place, ['tee', `${conflist}.tmp`], { input: render(index + 1) })
    await runAt(node.place, ['mv', `${conflist}.tmp`, conflist])
    await untilLoaded(cluster, index, 'bridge-bench')
  }
}

/** Goes back to the product. */
export async function removeBridge(cluster: Cluster): Promise<void> {
  for (const [index, node] of cluster.nodes.entries()) {
    await runAt(node.place, ['rm', '-f', conflist])
    await untilLoaded(cluster, index, 'kube-ovn')
  }
}

/** containerd watches the folder; it tells the name of the network that it took in its status. */
async function untilLoaded(cluster: Cluster, index: number, network: string): Promise<void> {
  const node = cluster.nodes[index]
  if (node === undefined) return
  await runAt(node.place, [
    'timeout',
    '30',
    'sh',
    '-c',
    'until ls /etc/cni/net.d/*.conflist | head -1 | xargs grep -q "\\"name\\": *\\"$0\\""; do sleep 0.1; done; sleep 1',
    network,
  ])
}

function render(node: number): string {
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'bridge-bench',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni-bench',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: `10.199.${node}.0/24` }], [{ subnet: `fd00:10:199:0:0:0:${node}:0/112` }]],
          routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })
}
