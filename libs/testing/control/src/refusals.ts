import { KubeForbiddenError } from '@kube-ovn/kube'
import type { LogFields, Logger } from '@kube-ovn/log'

/** As the authorizer says it; admission answers with the same status, e.g. for a namespace that is going away. */
const lacksRight = /^\S+ is forbidden: User "[^"]*" cannot /

/**
 * Makes a logger that also tells of each request that the API server refused because the account has no right to it.
 *
 * The controller logs such an error and tries again, so a test would wait for ever for what never comes.
 */
export function tellingRefusals(logger: Logger, tell: (answer: string) => void): Logger {
  function write(level: 'debug' | 'info' | 'warn' | 'error'): (message: string, fields?: LogFields) => void {
    return (message, fields) => {
      logger[level](message, fields)
      const error = fields?.err
      if (error instanceof KubeForbiddenError && lacksRight.test(error.details.answer))
        tell(error.details.answer)
    }
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => tellingRefusals(logger.child(fields), tell),
  }
}
