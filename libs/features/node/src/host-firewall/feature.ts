import type { Informer } from '@kube-ovn/kube'
import type { ServiceCidr } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import type { Netfilter } from '@kube-ovn/netfilter'
import { internalAddresses } from '../kube-objects.ts'
import { LevelLoop } from '../level-loop.ts'
import { ownNode, type NodeWorld } from '../node-world.ts'
import { natOutgoingPrefixes, readSubnetFacts, routedPrefixes } from '../subnet-facts.ts'
import { desiredHostFirewall, hostFirewallTable } from './desired.ts'
import type { HostFirewallSnapshot } from './snapshot.ts'
import { desiredSysctls } from './sysctls.ts'

export interface HostFirewallDependencies {
  readonly netfilter: Pick<Netfilter, 'applyTable' | 'watch'>
  readonly subnets: Pick<Informer<Subnet>, 'store' | 'onChange'>
  /** `undefined` where the API server has no ServiceCIDR objects (before Kubernetes 1.33). */
  readonly serviceCidrs: Pick<Informer<ServiceCidr>, 'store' | 'onChange'> | undefined
  /** `--service-cluster-ip-range`: used where there are no ServiceCIDR objects. */
  readonly fallbackServicePrefixes: readonly string[]
  readonly clusterRouter: string
  readSysctl(key: string): string
  writeSysctl(key: string, value: string): void
}

/**
 * Keeps the node's nftables table and the settings by which it forwards.
 *
 * The table is applied whole, in one transaction, and only when it differs from what was applied before or somebody
 * touched it. What the table contains changes with subnets, nodes and Service prefixes, not with pods.
 */
export class HostFirewall implements Disposable {
  readonly #world: NodeWorld
  readonly #deps: HostFirewallDependencies
  readonly #loop: LevelLoop
  readonly #subscriptions = new DisposableStack()
  #applied = ''

  constructor(world: NodeWorld, dependencies: HostFirewallDependencies) {
    this.#world = { ...world, log: world.log.child({ feature: 'host-firewall' }) }
    this.#deps = dependencies
    this.#loop = new LevelLoop({ ...this.#world, name: 'host-firewall', reconcile: () => this.#reconcile() })
  }

  start(): void {
    const trigger = (): void => this.#loop.trigger()
    const stack = this.#subscriptions
    stack.use(this.#world.nodes.onChange(trigger))
    stack.use(this.#deps.subnets.onChange(trigger))
    if (this.#deps.serviceCidrs !== undefined) stack.use(this.#deps.serviceCidrs.onChange(trigger))
    stack.use(
      this.#deps.netfilter.watch((event) => {
        if (event.kind === 'changed' && event.table.name !== hostFirewallTable.name) return
        this.#applied = ''
        trigger()
      }),
    )
    trigger()
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]()
    this.#loop[Symbol.dispose]()
  }

  async #reconcile(): Promise<void> {
    const snapshot = this.#observe()
    if (snapshot === undefined) return
    this.#applySysctls(snapshot)
    const table = desiredHostFirewall(snapshot)
    const text = JSON.stringify(table)
    if (text === this.#applied) return
    const outcome = await this.#deps.netfilter.applyTable(table)
    this.#applied = text
    if (outcome === 'applied')
      this.#world.log.info('packet filter was written', { natOutgoing: snapshot.natOutgoing })
  }

  #observe(): HostFirewallSnapshot | undefined {
    const own = ownNode(this.#world)
    if (own === undefined) return undefined
    const subnets = [...this.#deps.subnets.store.values()]
      .map((subnet) => readSubnetFacts(subnet, this.#deps.clusterRouter))
      .filter((facts) => facts !== undefined)
    const others = [...this.#world.nodes.store.values()].filter(
      (node) => node.metadata.name !== this.#world.nodeName,
    )
    const addresses = internalAddresses(own)
    return {
      subnets: routedPrefixes(subnets),
      natOutgoing: natOutgoingPrefixes(subnets),
      services: this.#servicePrefixes(),
      otherNodes: [...new Set(others.flatMap((node) => internalAddresses(node)))].sort(),
      nodeAddresses: [false, true].flatMap(
        (isV6) => addresses.find((address) => address.includes(':') === isV6) ?? [],
      ),
    }
  }

  #servicePrefixes(): readonly string[] {
    const objects = [...(this.#deps.serviceCidrs?.store.values() ?? [])].filter((object) =>
      (object.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
    )
    const prefixes = objects.flatMap((object) => object.spec?.cidrs ?? [])
    return [...new Set(prefixes.length > 0 ? prefixes : this.#deps.fallbackServicePrefixes)].sort()
  }

  #applySysctls({ subnets }: HostFirewallSnapshot): void {
    const families = {
      hasIpv4: subnets.some((prefix) => !prefix.includes(':')),
      hasIpv6: subnets.some((prefix) => prefix.includes(':')),
    }
    for (const [key, value] of desiredSysctls(families)) {
      try {
        if (this.#deps.readSysctl(key) === value) continue
        this.#deps.writeSysctl(key, value)
        this.#world.log.info('setting was written', { setting: key, value })
      } catch (error) {
        // The install container has set them; /proc/sys is read-only in a container without privileges.
        this.#world.log.warn('setting was not written', { setting: key, value, err: error })
      }
    }
  }
}
