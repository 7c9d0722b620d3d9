import { waitForObjects, type ApiClient, type ApiObject } from '@kube-ovn/lab'

/** A ProviderNetwork, as far as nodes say that they are connected. */
interface NetworkObject extends ApiObject {
  readonly status?: {
    readonly ready?: boolean
    readonly readyNodes?: readonly string[]
    readonly vlans?: readonly string[]
  }
}

/** Waits until a ProviderNetwork is ready on nodes: they call it that once the move of their NIC is confirmed. */
export function untilConnected(
  api: ApiClient,
  network: string,
  nodes: readonly (string | undefined)[],
): Promise<NetworkObject> {
  return waitForObjects<NetworkObject, NetworkObject>(
    api,
    `/apis/kubeovn.io/v1/provider-networks?fieldSelector=metadata.name%3D${network}`,
    `ProviderNetwork ${network} is ready on ${nodes.join(', ')}`,
    ([found]) => {
      const ready: readonly (string | undefined)[] = found?.status?.readyNodes ?? []
      return found?.status?.ready === true && nodes.every((node) => ready.includes(node)) ? found : undefined
    },
  )
}

interface SubnetObject extends ApiObject {
  readonly status?: {
    readonly externalAddresses?: readonly { readonly address: string; readonly nodes: readonly string[] }[]
  }
}

/** Waits until a Subnet says that OVN serves addresses of external load balancers on nodes, whatever the port. */
export function untilServedBy(
  api: ApiClient,
  subnet: string,
  addresses: readonly string[],
  nodes: readonly string[],
): Promise<true> {
  const wanted = nodes.toSorted().join()
  return waitForObjects<SubnetObject, true>(
    api,
    `/apis/kubeovn.io/v1/subnets?fieldSelector=metadata.name%3D${subnet}`,
    `${addresses.join(' and ')} of ${subnet} are served by ${wanted}`,
    ([found]) => {
      const served = found?.status?.externalAddresses ?? []
      const isServed = (address: string): boolean =>
        served.some((one) => one.address === address && one.nodes.toSorted().join() === wanted)
      return addresses.every(isServed) ? true : undefined
    },
  )
}
