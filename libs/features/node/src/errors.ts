import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Says that no interface of this node fits what was asked for as the tunnels' end. */
export class TunnelNicNotFoundError extends KubeOvnError<Refused> {
  readonly code = 'tunnel-nic-not-found'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('tunnel interface was not found', details)
  }
}

/** Says that the tunnels' interface has no address that a tunnel could end at. */
export class TunnelAddressNotFoundError extends KubeOvnError<Refused> {
  readonly code = 'tunnel-address-not-found'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('tunnel interface has no usable address', details)
  }
}

/** Says that a pod cannot be attached for now. The text is for the operator: it becomes the sandbox's event. */
export class AttachmentError extends KubeOvnError<{
  readonly pod: string
  /** Upstream's name of the step that failed, as it stands in events. */
  readonly stage: AttachmentStage
  readonly reason: string
}> {
  readonly code = 'attachment-failed'
  readonly retry = 'backoff'

  constructor(details: AttachmentError['details'], options?: ErrorOptions) {
    super('pod network cannot be configured', details, options)
  }
}

/** Steps of an attachment, named as upstream names them in events. */
export type AttachmentStage =
  | 'provider'
  | 'get-pod'
  | 'parse-address'
  | 'parse-routes'
  | 'wait-address'
  | 'wait-route'
  | 'get-subnet'
  | 'u2o-address'
  | 'mtu'
  | 'configure-nic'
  | 'delete-nic'

/** Says that a CHECK found something other than what ADD had made. */
export class AttachmentDiffersError extends KubeOvnError<{ readonly differences: readonly string[] }> {
  readonly code = 'attachment-differs'
  readonly retry = 'on-change'

  constructor(details: AttachmentDiffersError['details']) {
    super('attachment differs from what was made', details)
  }
}

/** Says that nobody can be told at a port of the node which backends it has, such as where another program listens there. */
export class HealthCheckNotServedError extends KubeOvnError<{
  readonly service: string
  readonly port: number
}> {
  readonly code = 'health-check-not-served'
  readonly retry = 'backoff'

  constructor(details: HealthCheckNotServedError['details'], options: ErrorOptions) {
    super('health checks of a Service can not be answered', details, options)
  }
}

/** Says which ports of pods that are gone could not be removed; the cause is the first one's. */
export class PortsNotRemovedError extends KubeOvnError<{ readonly ports: readonly string[] }> {
  readonly code = 'ports-not-removed'
  readonly retry = 'backoff'

  constructor(details: PortsNotRemovedError['details'], options?: ErrorOptions) {
    super('ports could not be removed', details, options)
  }
}

/** Says that the kubelet can not probe a pod of a VPC: connections to its address and port lead to somebody else. */
export class ProbeTargetTakenError extends KubeOvnError<
  Refused & {
    /** `namespace/name`. */
    readonly pod: string
    readonly holder: string
  }
> {
  readonly code = 'probe-target-taken'
  readonly retry = 'on-change'

  constructor(details: ProbeTargetTakenError['details']) {
    super('the node reaches somebody else at a probed address', details)
  }
}

/** Says that a Pod is to forward packets, and its network namespace does not let it. */
export class ForwardingOffError extends KubeOvnError<Refused> {
  readonly code = 'forwarding-off'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('network namespace of the pod forwards nothing', details)
  }
}
