import { parseGoDuration } from '@kube-ovn/time'
import { z } from 'zod'
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
  readonly schema: z.ZodType<T, string>
}

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
  schema: z.ZodType<T, string>,
  options: SettingOptions,
): Setting<T> {
  return { help, fallback, isSwitch: false, schema, ...options }
}

export function text(fallback: string, help: string, options: SettingOptions = {}): Setting<string> {
  return setting(fallback, help, z.string(), options)
}

/** Texts separated by commas; blanks around them do not count. */
export function list(
  fallback: string,
  help: string,
  options: SettingOptions = {},
): Setting<readonly string[]> {
  const schema = z.string().transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  )
  return setting<readonly string[]>(fallback, help, schema, options)
}

export function switchedOn(fallback: boolean, help: string, options: SettingOptions = {}): Setting<boolean> {
  const schema = z.stringbool({ truthy: ['true', '1', 't'], falsy: ['false', '0', 'f'] })
  return { ...setting(String(fallback), help, schema, options), isSwitch: true }
}

export function wholeNumber(fallback: number, help: string, options: SettingOptions = {}): Setting<number> {
  const schema = z
    .string()
    .regex(/^-?\d+$/, 'write a whole number')
    .transform(Number)
  return setting(String(fallback), help, schema, options)
}

/** Answers milliseconds; written as Go writes durations, e.g. `1m30s`. */
export function duration(fallback: string, help: string, options: SettingOptions = {}): Setting<number> {
  const schema = z.string().transform((value, context): number => {
    const ms = parseGoDuration(value)
    if (ms !== undefined) return ms
    context.issues.push({ code: 'custom', message: 'write a duration like 30s or 1m30s', input: value })
    return z.NEVER
  })
  return setting(fallback, help, schema, options)
}

export function oneOf<const V extends readonly [string, ...string[]]>(
  values: V,
  fallback: V[number],
  help: string,
  options: SettingOptions = {},
): Setting<V[number]> {
  const schema = z.string().pipe(z.enum(values)) as z.ZodType<V[number], string>
  return setting(fallback, help, schema, options)
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
  const values = Object.entries(settings).map(([key, { schema, fallback }]) => [key, schema.parse(fallback)])
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
  const result = one.schema.safeParse(value)
  if (result.success) return result.data
  const field = fromFlag === undefined && one.environment !== undefined ? one.environment : `--${name}`
  const cure = result.error.issues[0]?.message ?? 'see --help'
  throw new ConfigInvalidError({ field, value, cure }, { cause: result.error })
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
