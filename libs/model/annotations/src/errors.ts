import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Refuses the value of an annotation; `field` is the annotation's key. */
export class AnnotationInvalidError extends KubeOvnError<Refused> {
  readonly code = 'annotation-invalid'
  readonly retry = 'on-change'

  constructor(details: Refused, options?: ErrorOptions) {
    super('invalid annotation', details, options)
  }
}
