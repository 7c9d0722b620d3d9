import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { kubectl, namespaceOf, nbctl, nodeNamed, ovnCentral, runAt } from '@kube-ovn/lab'
import type { Cluster, PodObject } from '@kube-ovn/lab'

const run = promisify(execFile)

const name = 'lab-left'

/** An object of ours that a suite could forget. */
const vpc = { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name } }

/** Where a leak check looks that finds what {@link plantLeaks} leaves. */
export const plantedPlaces = [
  'Northbound',
  'Southbound',
  'resources of kubeovn.io',
  'node-1 links',
  'node-1 addresses',
  'node-1 routes',
  'node-1 rules',
  'node-1 network namespaces',
  'node-1 nftables',
  'node-1 Open vSwitch ports',
  'listening sockets of nodes',
  'processes of nodes',
] as const

/** Leaves one thing of each kind on node-1 and in the cluster, until it is disposed of. */
export async function plantLeaks(cluster: Cluster): Promise<AsyncDisposable> {
  const { place, container } = nodeNamed(cluster, 'node-1')
  const [central, vswitch] = await Promise.all([ovnCentral(cluster), vswitchPod(cluster)])
  const inVswitch = (...command: readonly string[]): Promise<string> =>
    kubectl(cluster, 'exec', '-n', 'kube-system', vswitch, '-c', 'openvswitch', '--', ...command)
  const onNode = (...lines: readonly string[]): Promise<string> =>
    runAt(place, ['sh', '-ec', lines.join('\n')])
  await using planted = new AsyncDisposableStack()

  await onNode(
    `ip link add ${name} type veth peer name ${name}-p`,
    `ip address add 192.0.2.1/24 dev ${name}`,
    `ip link set ${name} up`,
    `ip route add 198.51.100.0/24 dev ${name}`,
    `ip rule add pref 7777 table 7777`,
    // What ip(8) would mount a namespace on.
    `touch /run/netns/${name}`,
    `nft add table inet ${name}`,
  )
  planted.defer(async () => {
    await onNode(
      `ip link delete ${name}`,
      'ip rule delete pref 7777',
      `rm /run/netns/${name}`,
      `nft delete table inet ${name}`,
    )
  })
  await inVswitch('ovs-vsctl', 'add-port', 'br-int', `${name}-p`)
  planted.defer(async () => {
    await inVswitch('ovs-vsctl', 'del-port', 'br-int', `${name}-p`)
  })
  await nbctl(central, 'ls-add', name)
  planted.defer(async () => {
    await nbctl(central, 'ls-del', name)
  })
  await cluster.api.apply(vpc)
  planted.defer(() => cluster.api.delete(vpc))

  const listen = 'require("net").createServer().listen(7777, () => console.log("listens"))'
  const network = `--net=${namespaceOf(place)}`
  const listener = spawn('nsenter', [network, process.execPath, '--eval', listen], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(listener.stdout, 'data')
  planted.defer(() => {
    listener.kill()
  })
  // By the engine, so that it belongs to the machine.
  const exec = ['exec', '--detach', container.id, 'sh', '-c']
  await run('docker', [...exec, `echo $$ > /run/${name}.pid; exec tail -f /dev/null`])
  planted.defer(async () => {
    await run('docker', [...exec, `kill $(cat /run/${name}.pid)`])
  })
  return planted.move()
}

async function vswitchPod({ api }: Cluster): Promise<string> {
  const pods = await api.list<PodObject>('/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dovs')
  return pods.find(({ spec }) => spec.nodeName === 'node-1')?.metadata.name ?? ''
}
