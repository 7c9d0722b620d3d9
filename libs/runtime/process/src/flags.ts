import { parseArgs } from 'node:util'
import { ConfigInvalidError } from './errors.ts'

/** How a flag is written on the command line. */
export interface FlagSyntax {
  /** With dashes or underscores, without the leading dashes. */
  readonly name: string
  /** A switch may stand alone (`--enable-lb`) or have a value (`--enable-lb=false`). */
  readonly isSwitch: boolean
}

/**
 * Reads flags as Go's pflag does: `--flag=value`, `--flag value`, `--switch`, `--switch=false`, with one dash or two.
 *
 * The last one of several wins. Answers texts; what they mean is the schema's affair.
 *
 * @throws ConfigInvalidError for a flag that nobody declared, a missing value, or an argument that is no flag
 */
export function readFlags(
  args: readonly string[],
  flags: readonly FlagSyntax[],
): ReadonlyMap<string, string> {
  const known = new Map(flags.map((flag) => [flag.name, flag]))
  const { tokens } = parseArgs({
    args: args.map(withTwoDashes),
    options: Object.fromEntries(
      flags.map(({ name, isSwitch }) => [
        name,
        { type: isSwitch ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
    strict: false,
    tokens: true,
  })
  const values = new Map<string, string>()
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') throw stray(token.value)
    const flag = known.get(token.name)
    if (flag === undefined) throw unknownFlag(token.name, [...known.keys()])
    const value = token.value ?? (flag.isSwitch ? 'true' : undefined)
    if (value === undefined) throw noValue(token.name)
    values.set(token.name, value)
  }
  return values
}

function withTwoDashes(argument: string): string {
  return /^-[a-zA-Z]/.test(argument) ? `-${argument}` : argument
}

function stray(value: string): ConfigInvalidError {
  return new ConfigInvalidError({ field: 'command line', value, cure: 'write flags only, as --flag=value' })
}

function noValue(name: string): ConfigInvalidError {
  return new ConfigInvalidError({ field: `--${name}`, value: '', cure: `write --${name}=VALUE` })
}

function unknownFlag(name: string, known: readonly string[]): ConfigInvalidError {
  const similar = known.filter((other) => other.includes(name) || name.includes(other))
  const cure =
    similar.length > 0 ? `did you mean --${similar[0] ?? ''}?` : 'see --help for the flags that exist'
  return new ConfigInvalidError({ field: `--${name}`, value: '', cure })
}
