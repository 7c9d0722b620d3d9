import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** Says which field of an OvnEip can not be used, and what would be right. */
export interface OvnEipProblem extends Refused {
  readonly eip: string
}

/** Refuses an OvnEip that asks for something that can not be. */
export class OvnEipInvalidError extends KubeOvnError<OvnEipProblem> {
  readonly code = 'ovn-eip-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: OvnEipProblem, options?: ErrorOptions) {
    super('the OvnEip can not be used', details, options)
  }
}

/** Refuses to change what an OvnEip has since it has its addresses. It keeps them, and works on as before. */
export class OvnEipFixedError extends KubeOvnError<OvnEipProblem & { readonly has: string }> {
  readonly code = 'ovn-eip-fixed'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<OvnEipFixedError['details'], 'cure'>) {
    const cure = 'write back what the OvnEip has, or delete it and create it anew'
    super('ovn eip has been assigned, does not support change', { ...details, cure })
  }
}
