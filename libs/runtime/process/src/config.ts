import { parseGoDuration } from '@kube-ovn/time'
import { ConfigInvalidError } from './errors.ts'
import { readFlags } from './flags.ts'
import type { FlagSyntax } from './flags.ts'

/** One setting: where its text comes from and what it means. */
export interface Setting<T> {
  /** What it is for, one sentence. */
  readonly help: string
  readonly isSwitch: boolean
  /** As text, so that `--help` can show it. */
  readonly fallback: string
  /** Environment variable that is read when the flag is absent. */
  readonly environment?: string
  /** No flag, the environment variable only. */
  readonly isEnvironmentOnly?: boolean
  /** Flag name where it is not the kebab-case form of the key. */
  readonly flag?: string
  /** Understands the text, or says what to write in its place. */
  readonly read: (text: string) => Reading<T>
}

type Reading<T> = { readonly value: T } | { readonly cure: string }

export type Settings = Readonly<Record<string, Setting<unknown>>>

export type ConfigOf<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never
}

interface SettingOptions {
  readonly environment?: string
  readonly isEnvironmentOnly?: boolean
  readonly flag?: string
}

function setting<T>(
  fallback: string,
  help: string,
  read: Setting<T>['read'],
  options: SettingOptions,
): Setting<T> {
  return { help, fallback, isSwitch: false, read, ...options }
}

export function text(fallback: string, help: string, options: SettingOptions = {}): Setting<string> {
  return setting(fallback, help, (value) => ({ value }), options)
}

/** Texts separated by commas; blanks around them do not count. */
export function list(
  fallback: string,
  help: string,
  options: SettingOptions = {},
): Setting<readonly string[]> {
  const read = (written: string): Reading<readonly string[]> => ({
    value: written
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  })
  return setting(fallback, help, read, options)
}

const switches: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 't'].map((word) => [word, true] as const),
  ...['false', '0', 'f'].map((word) => [word, false] as const),
])

export function switchedOn(fallback: boolean, help: string, options: SettingOptions = {}): Setting<boolean> {
  const read = (written: string): Reading<boolean> => {
    const value = switches.get(written.toLowerCase())
    return value === undefined ? { cure: 'write true or false' } : { value }
  }
  return { ...setting(String(fallback), help, read, options), isSwitch: true }
}

/** `within` are the least and the most that there can be. */
export function wholeNumber(
  fallback: number,
  help: string,
  options: SettingOptions = {},
  within?: readonly [least: number, most: number],
): Setting<number> {
  const [least, most] = within ?? [-Infinity, Infinity]
  const cure = within === undefined ? 'write a whole number' : `write a whole number from ${least} to ${most}`
  const read = (written: string): Reading<number> => {
    const value = /^-?\d+$/.test(written) ? Number(written) : Number.NaN
    return value >= least && value <= most ? { value } : { cure }
  }
  return setting(String(fallback), help, read, options)
}

/** Answers milliseconds; written as Go writes durations, e.g. `1m30s`. */
export function duration(fallback: string, help: string, options: SettingOptions = {}): Setting<number> {
  const read = (written: string): Reading<number> => {
    const value = parseGoDuration(written)
    return value === undefined ? { cure: 'write a duration like 30s or 1m30s' } : { value }
  }
  return setting(fallback, help, read, options)
}

export function oneOf<const V extends readonly [string, ...string[]]>(
  values: V,
  fallback: V[number],
  help: string,
  options: SettingOptions = {},
): Setting<V[number]> {
  const read = (written: string): Reading<V[number]> => {
    const value = values.find((one) => one === written)
    return value === undefined ? { cure: `write ${values.join(' or ')}` } : { value }
  }
  return setting(fallback, help, read, options)
}

/** Flags of klog that every component of upstream takes. */
const klog = {
  v: wholeNumber(0, 'Verbosity: 4 and more logs why decisions fall as they do.'),
  vmodule: text('', 'Accepted for compatibility, without effect.'),
  logtostderr: switchedOn(true, 'Write the log to standard error.'),
  alsologtostderr: switchedOn(false, 'Write the log to standard error besides the file.'),
  logFile: text('', 'Write the log to this file.', { flag: 'log_file' }),
  logFileMaxSize: wholeNumber(1800, 'Accepted for compatibility, without effect.', {
    flag: 'log_file_max_size',
  }),
  logDir: text('', 'Accepted for compatibility, without effect.', { flag: 'log_dir' }),
  stderrthreshold: text('2', 'Accepted for compatibility, without effect.'),
  skipHeaders: switchedOn(false, 'Accepted for compatibility, without effect.', { flag: 'skip_headers' }),
  oneOutput: switchedOn(false, 'Accepted for compatibility, without effect.', { flag: 'one_output' }),
  skipLogHeaders: switchedOn(false, 'Accepted for compatibility, without effect.', {
    flag: 'skip_log_headers',
  }),
  addDirHeader: switchedOn(false, 'Accepted for compatibility, without effect.', { flag: 'add_dir_header' }),
  logBacktraceAt: text('', 'Accepted for compatibility, without effect.', { flag: 'log_backtrace_at' }),
  alsologtostderrthreshold: text('0', 'Accepted for compatibility, without effect.'),
  legacyStderrThresholdBehavior: switchedOn(true, 'Accepted for compatibility, without effect.', {
    flag: 'legacy_stderr_threshold_behavior',
  }),
} as const satisfies Settings

export interface Command<S extends Settings> {
  /** Name of the program. */
  readonly name: string
  readonly summary: string
  readonly examples: readonly string[]
  readonly settings: S
}

/** A program's own settings, and those that every program has. */
export type Config<S extends Settings> = ConfigOf<S> & ConfigOf<typeof klog>

export type ParsedConfig<S extends Settings> =
  { readonly kind: 'help'; readonly text: string } | { readonly kind: 'config'; readonly config: Config<S> }

/**
 * Reads a program's settings: a flag wins over the environment, the environment over the default.
 *
 * @throws ConfigInvalidError naming the flag or variable, its value and the cure
 */
export function readConfig<S extends Settings>(
  command: Command<S>,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ParsedConfig<S> {
  if (args.some((argument) => argument === '--help' || argument === '-h'))
    return { kind: 'help', text: helpText(command) }
  const settings: Settings = { ...klog, ...command.settings }
  const flags = readFlags(args, syntaxOf(settings))
  const config = Object.fromEntries(
    Object.entries(settings).map(([key, one]) => [key, parseSetting(key, one, flags, environment)]),
  )
  return { kind: 'config', config: config as Config<S> }
}

/** What settings are when nobody says anything. */
export function defaultsOf<S extends Settings>(settings: S): ConfigOf<S> {
  const values = Object.entries(settings).map(([key, one]) => [key, parseSetting(key, one, new Map(), {})])
  return Object.fromEntries(values) as ConfigOf<S>
}

/** A flag, and what a program goes by. */
export interface FlagInUse {
  /** Of the setting. */
  readonly key: string
  /** Without the dashes before it. */
  readonly name: string
  /** As it could be written on the command line. */
  readonly value: string
  readonly fallback: string
}

/** Lists all flags of a program with their values, wherever these come from. */
export function flagsInUse<S extends Settings>(
  { settings }: Command<S>,
  config: Config<S>,
): readonly FlagInUse[] {
  return Object.entries<Setting<unknown>>({ ...klog, ...settings })
    .filter(([, one]) => one.isEnvironmentOnly !== true)
    .map(([key, one]) => ({
      key,
      name: flagName(key, one),
      value: String(config[key]),
      fallback: one.fallback,
    }))
}

function parseSetting(
  key: string,
  one: Setting<unknown>,
  flags: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  const name = flagName(key, one)
  const fromFlag = one.isEnvironmentOnly === true ? undefined : flags.get(name)
  const fromEnvironment = one.environment === undefined ? undefined : environment[one.environment]
  const value = fromFlag ?? (fromEnvironment === '' ? undefined : fromEnvironment) ?? one.fallback
  const reading = one.read(value)
  if ('value' in reading) return reading.value
  const field = fromFlag === undefined && one.environment !== undefined ? one.environment : `--${name}`
  throw new ConfigInvalidError({ field, value, cure: reading.cure })
}

function syntaxOf(settings: Settings): readonly FlagSyntax[] {
  return Object.entries(settings)
    .filter(([, one]) => one.isEnvironmentOnly !== true)
    .map(([key, one]) => ({ name: flagName(key, one), isSwitch: one.isSwitch }))
}

function flagName(key: string, one: Setting<unknown>): string {
  return one.flag ?? key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function helpText<S extends Settings>(command: Command<S>): string {
  const lines = Object.entries({ ...command.settings, ...klog }).map(
    ([key, one]: [string, Setting<unknown>]) => {
      const name = one.isEnvironmentOnly === true ? `$${one.environment ?? ''}` : `--${flagName(key, one)}`
      const notes = [
        one.environment === undefined || one.isEnvironmentOnly === true ? [] : [`$${one.environment}`],
        one.fallback === '' ? [] : [`default ${one.fallback}`],
      ].flat()
      return `  ${name}\n      ${one.help}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
    },
  )
  const examples = command.examples.map((example) => `  ${example}`)
  return [command.summary, '', 'Examples', ...examples, '', 'Flags', ...lines, ''].join('\n')
}
