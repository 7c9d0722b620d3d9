import { BlockList, isIP } from 'node:net'
import type { ApiObject, PodObject } from '@kube-ovn/lab'

/** What the controller wrote on a pod about one of its NICs. */
export function told(pod: PodObject | undefined, key: string, provider = 'ovn'): string | undefined {
  return pod?.metadata.annotations?.[`${provider}.kubernetes.io/${key}`]
}

/** The addresses that Multus says a pod has in a network. */
export function attachedTo(pod: PodObject | undefined, network: string): readonly string[] {
  const text = pod?.metadata.annotations?.['k8s.v1.cni.cncf.io/network-status'] ?? '[]'
  const networks = JSON.parse(text) as readonly { readonly name: string; readonly ips?: readonly string[] }[]
  return networks.find(({ name }) => name === network)?.ips ?? []
}

/** The addresses that the example keeps for its pod. */
export function reservedIn(objects: readonly ApiObject[]): readonly string[] {
  const spec = objects.find(({ kind }) => kind === 'IP') as
    { readonly spec: { readonly v4IpAddress?: string; readonly v6IpAddress?: string } } | undefined
  return [spec?.spec.v4IpAddress, spec?.spec.v6IpAddress].filter((ip) => ip !== undefined)
}

/** Whether an address is one of those that an IPPool lists. */
export function isWithin(address: string, entries: readonly string[]): boolean {
  const list = new BlockList()
  for (const entry of entries) {
    const [first = '', last = first] = entry.split('..')
    const [prefix = '', length] = first.split('/')
    const family = isIP(prefix) === 6 ? 'ipv6' : 'ipv4'
    if (length === undefined) list.addRange(first, last, family)
    else list.addSubnet(prefix, Number(length), family)
  }
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

export function byName(pods: readonly PodObject[]): readonly PodObject[] {
  return pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}
