/**
 * What the plugin and the agent say to each other over the unix socket, in HTTP/1.1 and JSON.
 *
 * `/api/v1/add` and `/api/v1/del` are upstream's, key by key, so that an old plugin works with this agent and a new
 * plugin with an old agent while a node is being upgraded. What is only ours is marked; an old agent ignores it.
 */

export const addPath = '/api/v1/add'
export const delPath = '/api/v1/del'
/** Ours. */
export const checkPath = '/api/v1/check'
/** Ours. */
export const statusPath = '/api/v1/status'
/** Ours. */
export const gcPath = '/api/v1/gc'

export interface RouteMessage {
  /** Empty means the default route of the gateway's family. */
  readonly dst: string
  readonly gw: string
}

/** The body of add, del and check. */
export interface AttachmentMessage {
  readonly cni_type: string
  readonly pod_name: string
  readonly pod_namespace: string
  readonly container_id: string
  readonly net_ns: string
  readonly if_name: string
  readonly provider: string
  readonly routes?: readonly RouteMessage[] | null
  readonly dns?: unknown
  readonly vf_driver?: string
  readonly deviceID?: string
  readonly vhost_user_socket_volume_name?: string
  readonly vhost_user_socket_name?: string
  readonly vhost_user_socket_consumption?: string
  /** Ours: tells a Pod from its successor of the same name. */
  readonly pod_uid?: string
  /** Ours: name of the network configuration, to which a later GC is confined. */
  readonly network?: string
}

export interface AddressMessage {
  readonly protocol: 'IPv4' | 'IPv6'
  readonly ip: string
  readonly cidr: string
  /** Empty unless the interface owns the default route. */
  readonly gateway: string
}

/** The answer to add. */
export interface AttachedMessage {
  readonly ips: readonly AddressMessage[]
  readonly mac_address: string
  readonly routes: readonly RouteMessage[]
  readonly mtu: number
  readonly nicname: string
}

/** The body of any answer but a success. */
export interface FailureMessage {
  readonly error: string
  /** Ours: a CNI error code that says more than "try again later". */
  readonly code?: number
}

/** The body of gc: what the runtime still knows of; everything else of the network is left over. */
export interface CollectionMessage {
  readonly network: string
  readonly valid_attachments: readonly { readonly container_id: string; readonly if_name: string }[]
}
