import { readFileSync } from 'node:fs'
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import { ofStack, type Stack } from '../cluster/topology.ts'
import { FakeChassis } from './fake-chassis.ts'
import { FakeKubelets } from './fake-kubelets.ts'
import { fakeAddresses, fakeNodes } from './fake-node.ts'

/** What the process is told by its only argument, a file. */
export interface FakeNodesOrder {
  readonly kubeconfig: string
  /** Servers of the Southbound. */
  readonly southbound: readonly string[]
  readonly stack: Stack
  readonly nodes: number
}

const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FakeNodesOrder
const nodes = fakeNodes(order.nodes)
const chassis = new FakeChassis(order.southbound)
await chassis.connect()
await chassis.register(
  nodes.map((node) => ({
    name: node.name,
    encapIp: ofStack(order.stack, fakeAddresses(node, 'tunnel'))[0] ?? '',
  })),
)
const client = new KubeClient(await loadAccess(order.kubeconfig), { userAgent: 'fake-kubelet' })
const kubelets = new FakeKubelets({ client, chassis, nodes, stack: order.stack })
await kubelets.start()
process.stdout.write('ready\n')
