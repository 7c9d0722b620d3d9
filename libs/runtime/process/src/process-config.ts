import { readConfig } from './config.ts'
import type { Command, Config, Settings } from './config.ts'
import { ConfigInvalidError } from './errors.ts'

/**
 * Reads the settings of this process, from its arguments and its environment.
 *
 * Ends the process, with 0, when it is only asked for help; and with 2, and one sentence on standard error, when a
 * setting is not valid.
 */
export function processConfig<S extends Settings>(
  command: Command<S>,
  args: readonly string[] = process.argv.slice(2),
): Config<S> {
  try {
    const parsed = readConfig(command, args, process.env)
    if (parsed.kind === 'config') return parsed.config
    process.stdout.write(parsed.text)
  } catch (error) {
    if (!(error instanceof ConfigInvalidError)) throw error
    const { field, value, cure } = error.details
    const setting = value === '' ? field : `${field} ${JSON.stringify(value)}`
    process.stderr.write(`${command.name}: invalid ${setting}: ${cure}\n`)
    process.exit(2)
  }
  process.exit(0)
}
