import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** Refuses a name that can not stand in a match expression. */
export class InvalidMatchNameError extends KubeOvnError<{
  readonly kind: 'address set' | 'port group'
  readonly value: string
  readonly cure: string
}> {
  readonly code = 'ovn-match-name'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Omit<InvalidMatchNameError['details'], 'cure'>) {
    super('the name can not be used in an OVN match', {
      ...details,
      cure: 'begin with a letter, an underscore or a dot, and use only these and digits',
    })
  }
}

/** A field was compared with an address of the other family, which OVN would refuse. */
export class MatchFamilyError extends KubeOvnError<{ readonly field: string; readonly value: string }> {
  readonly code = 'ovn-match-family'
  readonly retry: RetryClass = 'never'

  constructor(details: MatchFamilyError['details']) {
    super('an address field was compared with an address of the other family', details)
  }
}

/** Refuses text that is no match expression of OVN. */
export class InvalidMatchError extends KubeOvnError<Refused> {
  readonly code = 'ovn-match-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: Refused) {
    super('the text is no OVN match', details)
  }
}
