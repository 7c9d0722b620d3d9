import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

export interface NetlinkErrorDetails {
  /** What was attempted, in ip(8)'s words: `link add`, `route replace`. */
  readonly operation: string
  /** What it was attempted on: the name of the link, the destination of the route. */
  readonly subject: string
  /** Symbolic error number, such as `EEXIST`. */
  readonly errno: string
  /** The kernel's own explanation (extended acknowledgement), where it gave one. */
  readonly kernelMessage?: string
  /** Number of the attribute the kernel objects to, where it named one. */
  readonly attribute?: number
}

/** Says that the kernel refused a request. */
export class NetlinkError extends KubeOvnError<NetlinkErrorDetails> {
  readonly code: string = 'netlink-refused'
  readonly retry: RetryClass = 'backoff'

  constructor(details: NetlinkErrorDetails, options?: ErrorOptions) {
    super('kernel refused a network request', details, options)
  }
}

/** Says that a link of this name exists already (EEXIST). */
export class LinkExistsError extends NetlinkError {
  override readonly code = 'netlink-link-exists'
}

/** Says that the link the request is about does not exist (ENODEV). It may have gone with its pod. */
export class LinkNotFoundError extends NetlinkError {
  override readonly code = 'netlink-link-not-found'
}

/** Says that this process may not change the network: it needs CAP_NET_ADMIN, and CAP_SYS_ADMIN to enter namespaces. */
export class NetlinkPermissionError extends NetlinkError {
  override readonly code = 'netlink-not-permitted'
  override readonly retry = 'on-change'
}

/** Says that a path names no network namespace: the pod that had it is gone, or the runtime's directory is not mounted. */
export class NamespaceNotFoundError extends KubeOvnError<{
  readonly netns: string
  readonly errno: string
}> {
  readonly code = 'netns-not-found'
  readonly retry = 'on-change'

  constructor(details: NamespaceNotFoundError['details'], options?: ErrorOptions) {
    super('network namespace cannot be entered', details, options)
  }
}

/** Says that a value cannot be expressed to the kernel. */
export class InvalidNetlinkValueError extends KubeOvnError<{
  readonly field: string
  readonly value: string
  /** What would have been right. */
  readonly expected: string
}> {
  readonly code = 'netlink-invalid-value'
  readonly retry = 'never'

  constructor(details: InvalidNetlinkValueError['details']) {
    super('value cannot be expressed in a netlink message', details)
  }
}

/** Picks the class that tells most about a refusal. */
export function netlinkError(details: NetlinkErrorDetails, options?: ErrorOptions): NetlinkError {
  switch (details.errno) {
    case 'ENODEV':
      return new LinkNotFoundError(details, options)
    case 'EPERM':
    case 'EACCES':
      return new NetlinkPermissionError(details, options)
    case 'EEXIST':
      return details.operation.startsWith('link ')
        ? new LinkExistsError(details, options)
        : new NetlinkError(details, options)
    default:
      return new NetlinkError(details, options)
  }
}
