import {
  FragmentKernel,
  NftablesSink,
  SysctlSink,
  type FragmentKernelOptions,
  type SysctlAccess,
} from '@kube-ovn/fragments'
import type { Informer } from '@kube-ovn/kube'
import type { Subnet } from '@kube-ovn/kube-api'
import type { KubeObject, Node, ServiceCidr } from '@kube-ovn/kube-api/core'
import type { Netfilter } from '@kube-ovn/netfilter'
import type { Table } from '@kube-ovn/tables'
import { hostFirewall } from './host-firewall/feature.ts'
import { agentTable, nodeTable, serviceCidrTable, subnetTable, theNode, type AgentFacts } from './tables.ts'

type Objects<T extends KubeObject> = Pick<Informer<T>, 'store' | 'onChange'>

export interface NodeKernelOptions extends Omit<FragmentKernelOptions, 'features' | 'lanes'> {
  readonly agent: AgentFacts
  readonly nodes: Objects<Node>
  readonly subnets: Objects<Subnet>
  /** `undefined` where the API server has no ServiceCIDR objects (before Kubernetes 1.33). */
  readonly serviceCidrs: Objects<ServiceCidr> | undefined
  readonly netfilter: Netfilter
  readonly sysctls: SysctlAccess
}

/** The features of a node, and the sinks that make true what they say. To be started when all objects are there. */
export function createNodeKernel(options: NodeKernelOptions): FragmentKernel {
  const { netfilter, sysctls } = options
  const kernel = new FragmentKernel({
    ...options,
    features: [hostFirewall],
    lanes: [[new NftablesSink(netfilter), new SysctlSink(sysctls)]],
  })
  kernel.attach(agentTable, {
    get: (key) => (key === theNode ? options.agent : undefined),
    keys: () => [theNode],
    keysOf: () => [],
  })
  attachObjects(kernel, nodeTable, options.nodes)
  attachObjects(kernel, subnetTable, options.subnets)
  attachObjects(kernel, serviceCidrTable, options.serviceCidrs)
  return kernel
}

/** Without an informer there are no objects. */
function attachObjects<T extends KubeObject>(
  kernel: FragmentKernel,
  table: Table<T>,
  informer: Objects<T> | undefined,
): void {
  kernel.attach(table, {
    get: (key) => informer?.store.get(key),
    // They are all cluster-scoped.
    keys: () => [...(informer?.store.values() ?? [])].map(({ metadata }) => metadata.name),
    keysOf: () => [],
  })
  if (informer === undefined) return
  kernel.use(informer.onChange(({ key, old, new: now }) => kernel.changed(table, key, old, now)))
}
