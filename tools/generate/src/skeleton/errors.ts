import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** What is to be begun can not be. */
export class SkeletonError extends KubeOvnError<Refused> {
  readonly code = 'skeleton-refused'
  readonly retry = 'on-change'
}
