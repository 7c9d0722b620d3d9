import {
  addressesOf,
  injectFault,
  ofStack,
  pingAll,
  runAt,
  tryAt,
  type Cluster,
  type LabNode,
} from '@kube-ovn/lab'

/** No machine of a lab has this number in its networks. */
const freeHost = 120

interface NodeObject {
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] }
}

/**
 * A node that Kubernetes knows by other addresses than before, which it has beside those. Its kubelet stands still meanwhile: it would put
 * back what it started with.
 */
export class RenumberedNode implements AsyncDisposable {
  /** One of each family. */
  readonly addresses: readonly string[]
  readonly #node: LabNode
  readonly #stack: AsyncDisposableStack

  private constructor(node: LabNode, addresses: readonly string[], stack: AsyncDisposableStack) {
    this.#node = node
    this.addresses = addresses
    this.#stack = stack
  }

  static async begin(cluster: Cluster, node: LabNode): Promise<RenumberedNode> {
    await using stack = new AsyncDisposableStack()
    const addresses = ofStack(cluster.topology.stack, addressesOf(cluster.blocks, 'kubernetes', freeHost))
    const link = await linkWith(node)
    for (const address of addresses) {
      const change = (verb: 'add' | 'del'): readonly string[] => {
        const [length, ...flags] = address.includes(':') ? ['64', 'nodad'] : ['24']
        return ['ip', 'address', verb, `${address}/${length}`, 'dev', link, ...(verb === 'add' ? flags : [])]
      }
      await runAt(node.place, change('add'))
      stack.defer(async () => void (await runAt(node.place, change('del'))))
    }
    const target = { machine: node.name, component: 'kubelet' } as const
    stack.use(await injectFault(cluster, { kind: 'pause', target }))
    const path = `/api/v1/nodes/${node.name}`
    const { status } = await cluster.api.call<NodeObject>('GET', path)
    const tell = (told: NodeObject['status']['addresses']): Promise<unknown> =>
      cluster.api.mergePatch(`${path}/status`, { status: { addresses: told } })
    stack.defer(async () => void (await tell(status.addresses)))
    await tell([
      ...addresses.map((address) => ({ type: 'InternalIP', address })),
      ...status.addresses.filter(({ type }) => type !== 'InternalIP'),
    ])
    return new RenumberedNode(node, addresses, stack.move())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }

  /** Those of the addresses that answer what is asked by them: the way back is one that leads to the node for its new addresses alone. */
  async answered(targets: readonly string[]): Promise<readonly string[]> {
    const asked = await Promise.all(
      targets.map(async (target) => {
        const own = this.addresses.find((address) => address.includes(':') === target.includes(':')) ?? ''
        const ping = ['ping', '-c', '1', '-W', '1', '-I', own, target]
        return (await tryAt(this.#node.place, ping)).exitCode === 0 ? [target] : []
      }),
    )
    return asked.flat()
  }

  /** How many of its addresses answer somebody else. */
  async reachedFrom(place: LabNode['place']): Promise<number> {
    return (await pingAll(place, this.addresses)).size
  }
}

/** The link by which the node is known to Kubernetes until now. */
async function linkWith({ place, kubernetes }: LabNode): Promise<string> {
  const links = JSON.parse(await runAt(place, ['ip', '-json', 'address'])) as readonly {
    readonly ifname: string
    readonly addr_info: readonly { readonly local?: string }[]
  }[]
  const wanted = [kubernetes.ipv4, kubernetes.ipv6]
  const found = links.find(({ addr_info: info }) => info.some(({ local = '' }) => wanted.includes(local)))
  if (found === undefined) throw new TypeError(`no link has ${wanted.join(' or ')}`)
  return found.ifname
}
