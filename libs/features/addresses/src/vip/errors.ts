import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** Says which field of a Vip can not be used, and what would be right. */
export interface VipProblem extends Refused {
  readonly vip: string
}

/** Refuses a Vip that asks for something that can not be. */
export class VipInvalidError extends KubeOvnError<VipProblem> {
  readonly code = 'vip-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: VipProblem, options?: ErrorOptions) {
    super('the Vip can not be used', details, options)
  }
}

/** Refuses to change what a Vip has since it has its addresses. It keeps them, and works on as before. */
export class VipFixedError extends KubeOvnError<VipProblem & { readonly has: string }> {
  readonly code = 'vip-fixed'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<VipFixedError['details'], 'cure'>) {
    const cure = 'write back what the Vip has, or delete it and create it anew'
    super('vip has been assigned, does not support change', { ...details, cure })
  }
}

/** The port whose MAC address a Vip is to have is not there yet. */
export class RouterPortMissingError extends KubeOvnError<{ readonly vip: string; readonly port: string }> {
  readonly code = 'vip-router-port-missing'
  readonly retry: RetryClass = 'on-change'

  constructor(details: RouterPortMissingError['details']) {
    super('the router port of the subnet is not there yet', details)
  }
}
