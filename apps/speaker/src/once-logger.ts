import type { Logger } from '@kube-ovn/log'

/** Warns of each thing once, for what is tried again for ever and matters to nobody but those who look for it. */
export function warningOnce(log: Logger, told = new Set<string>()): Logger {
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn(message, fields) {
      if (told.has(message)) return
      told.add(message)
      log.warn(message, fields)
    },
    error: (message, fields) => log.error(message, fields),
    child: (fields) => warningOnce(log.child(fields), told),
  }
}
