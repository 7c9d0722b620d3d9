import type { RefusedText } from '@kube-ovn/ip'
import { KubeOvnError } from '@kube-ovn/errors'

/** Refuses the value of an annotation; `field` is the annotation's key. */
export class AnnotationInvalidError extends KubeOvnError<RefusedText> {
  readonly code = 'annotation-invalid'
  readonly retry = 'on-change'

  constructor(details: RefusedText, options?: ErrorOptions) {
    super('invalid annotation', details, options)
  }
}
