/** What the runtime asks for, after its text was checked. */
export interface AttachmentRequest {
  /** With the name, empty when an attachment is removed and the runtime does not tell. */
  readonly podNamespace: string
  readonly podName: string
  /** Empty when the runtime does not tell. */
  readonly podUid: string
  readonly containerId: string
  readonly ifName: string
  /** Path of the pod's network namespace; may be empty when an attachment is removed. */
  readonly netns: string
  readonly provider: string
  /** Name of the network configuration. */
  readonly network: string
  /** Routes that the network configuration asks for. */
  readonly routes: readonly RouteText[]
}

/** Text of a route, whose gateway is empty where it is on the link, and whose destination is empty for the default one. */
export interface RouteText {
  readonly dst: string
  readonly gw: string
}

/** An address that the controller gave the pod. */
export interface PodAddress {
  /** In canonical form. */
  readonly ip: string
  readonly prefixLength: number
  /** Of the subnet and the address's family; `undefined` if it has none. */
  readonly gateway: string | undefined
}

/** Everything that decides how a pod's interface looks. */
export interface AttachmentSnapshot {
  readonly request: AttachmentRequest
  /** Of the network that the interface is in, in annotations and in the name of the port. */
  readonly provider: string
  /** What the port is named after. */
  readonly holder: string
  readonly hostName: string
  readonly mac: string
  readonly addresses: readonly PodAddress[]
  /** Bytes; 0 leaves the kernel's default. */
  readonly mtu: number
  readonly hasUserspaceDatapath: boolean
  /** The pod's default route goes by this interface. */
  readonly ownsDefaultRoute: boolean
  /** Further ones, that the Pod asks for. */
  readonly routes: readonly RouteText[]
  /** The pod forwards packets. */
  readonly forwards?: true
}
