import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Says why a node can not be connected to a provider network as that is written. */
export class ProviderNetworkInvalidError extends KubeOvnError<Refused> {
  readonly code = 'provider-network-invalid'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('node can not be connected to the provider network', details)
  }
}

/** Says that a NIC was given back, because the node had lost what it needs when it was connected. */
export class ProviderNicTakenBackError extends KubeOvnError<Refused & { readonly lost: string }> {
  readonly code = 'provider-nic-taken-back'
  readonly retry = 'on-change'

  constructor(details: ProviderNicTakenBackError['details'], options?: ErrorOptions) {
    super('interface was taken out of the bridge again', details, options)
  }
}

/** Says that the ways that a node needs did not answer in time. */
export class LifelineLostError extends KubeOvnError<{ readonly lost: string }> {
  readonly code = 'lifeline-lost'
  readonly retry = 'on-change'

  constructor(details: LifelineLostError['details']) {
    super('node did not reach what it needs', details)
  }
}
