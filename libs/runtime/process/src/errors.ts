import { KubeOvnError } from '@kube-ovn/errors'
import type { RetryClass } from '@kube-ovn/errors'

/** A flag or environment variable that the process can not start with. */
export class ConfigInvalidError extends KubeOvnError<{
  /** As the user writes it, e.g. `--pprof-port`. */
  readonly field: string
  readonly value: string
  readonly cure: string
}> {
  readonly code = 'config-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: ConfigInvalidError['details'], options?: ErrorOptions) {
    super('configuration is invalid', details, options)
  }
}
