import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** A flag or environment variable that the process can not start with. */
export class ConfigInvalidError extends KubeOvnError<Refused> {
  readonly code = 'config-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: ConfigInvalidError['details'], options?: ErrorOptions) {
    super('configuration is invalid', details, options)
  }
}
