import { KubeOvnError } from '@kube-ovn/errors'

/** What is to be begun can not be. */
export class SkeletonError extends KubeOvnError<{
  readonly field: string
  readonly value: string
  readonly cure: string
}> {
  readonly code = 'skeleton-refused'
  readonly retry = 'on-change'
}
