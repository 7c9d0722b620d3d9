import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Refuses a fragment that could not be applied on any node: a defect of the feature, or a value that was not checked. */
export class InvalidFragmentError extends KubeOvnError<Refused> {
  readonly code = 'invalid-fragment'
  readonly retry = 'on-change'

  constructor(details: Refused) {
    super('fragment can not be applied', details)
  }
}

/** Says that another feature wants the same part of a node otherwise. It has it, and keeps it. */
export class FragmentConflictError extends KubeOvnError<Refused & { readonly holder: string }> {
  readonly code = 'fragment-conflict'
  readonly retry = 'on-change'

  constructor(details: FragmentConflictError['details']) {
    super('another feature has what the fragment is about', details)
  }
}

/** Says that a node is a neighbour of no such next hop, so that nothing is sent there. It is used once the node has an address beside it. */
export class NextHopUnreachableError extends KubeOvnError<Refused & { readonly subnet: string }> {
  readonly code = 'next-hop-unreachable'
  readonly retry = 'on-change'

  constructor(details: NextHopUnreachableError['details']) {
    super('node is no neighbour of the next hop', details)
  }
}

/** Says that a setting of the kernel was not written: it does not exist, or this container may not write it. */
export class SysctlNotWrittenError extends KubeOvnError<{
  readonly setting: string
  readonly value: string
}> {
  readonly code = 'sysctl-not-written'
  readonly retry = 'on-change'

  constructor(details: SysctlNotWrittenError['details'], options: ErrorOptions) {
    super('setting of the kernel was not written', details, options)
  }
}

/** Says which changes of a target were not made; the cause is the first one's. */
export class TargetNotWrittenError extends KubeOvnError<{ readonly changes: readonly string[] }> {
  readonly code = 'target-not-written'
  readonly retry = 'backoff'

  constructor(details: TargetNotWrittenError['details'], options: ErrorOptions) {
    super('changes of the node were not made', details, options)
  }
}
