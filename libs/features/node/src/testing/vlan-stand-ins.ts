import type { LinkInfo, Netlink, NetlinkEvent, VlanRequest } from '@kube-ovn/netlink'
import type { TestNamespace } from '@kube-ovn/testing-net'

/** Names of the links that stand for VLAN interfaces. */
const vlanName = /\.(\d+)$/

/**
 * Shows links of a namespace as VLAN interfaces that are none: kernels without 802.1Q have them all the same.
 *
 * A macvlan is made of another link, has addresses and routes, and comes and goes as a VLAN interface does. Only frames tell them apart.
 */
export function withVlanStandIns(namespace: TestNamespace, host: Netlink): Netlink {
  /** By index: a link may get another name. */
  const tags = new Map<number, number>()
  const shown = (link: LinkInfo): LinkInfo => {
    const named = vlanName.exec(link.name)?.[1]
    const tag = named === undefined ? tags.get(link.index) : Number(named)
    if (link.kind !== 'macvlan' || tag === undefined) return link
    tags.set(link.index, tag)
    return { ...link, kind: 'vlan', vlanId: tag }
  }
  const replaced: Partial<Netlink> = {
    links: () => host.links().map(shown),
    link(nameOrIndex) {
      const link = host.link(nameOrIndex)
      return link === undefined ? undefined : shown(link)
    },
    createVlan(request) {
      const parent = host.link(request.parentIndex)?.name ?? ''
      addVlanStandIn(namespace, parent, request)
      const made = this.link?.(request.name)
      if (made === undefined) throw new TypeError(`${request.name} was not made`)
      return made
    },
    watch: (selection, listener, options) =>
      host.watch(
        selection,
        (event: NetlinkEvent) =>
          listener(event.kind === 'link' ? { ...event, link: shown(event.link) } : event),
        options,
      ),
  }
  return new Proxy(host, {
    get(target, key) {
      const own: unknown = Reflect.get(replaced, key, replaced)
      const value: unknown = own ?? Reflect.get(target, key, target)
      return typeof value === 'function' && own === undefined ? (value.bind(target) as unknown) : value
    },
  })
}

/** Makes a link that stands for a VLAN interface; its name says the tag. */
export function addVlanStandIn(
  namespace: TestNamespace,
  parent: string,
  { name, mac, mtu, up }: Omit<VlanRequest, 'parentIndex' | 'vlanId'>,
): void {
  namespace.run(
    ...['ip', 'link', 'add', 'link', parent, 'name', name],
    ...(mac === undefined ? [] : ['address', mac]),
    ...(mtu === undefined ? [] : ['mtu', String(mtu)]),
    ...['type', 'macvlan', 'mode', 'bridge'],
  )
  if (up === true) namespace.run('ip', 'link', 'set', name, 'up')
}
