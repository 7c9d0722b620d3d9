import { missingFeatures, needless } from './data.ts'

export type Program = 'controller' | 'agent' | 'speaker'

/** A flag as a program goes by it. */
export interface GivenFlag {
  /** Without dashes before it. */
  readonly name: string
  readonly value: string
  readonly fallback: string
}

/**
 * Says of each flag that asks for something, and has no effect, why: one that is not as it is by default, or that is
 * switched on by default for what is not there yet.
 */
export function ignoredFlags(program: Program, given: readonly GivenFlag[]): readonly string[] {
  const key = `${program}Flags` as const
  const byName = new Map(given.map((flag) => [flag.name, flag]))
  function flagsOf(names: readonly string[], isTold: (flag: GivenFlag) => boolean): readonly GivenFlag[] {
    return names.flatMap((name) => byName.get(name) ?? []).filter(isTold)
  }
  return [
    ...missingFeatures.flatMap(({ name: feature, cure, [key]: names = [] }) =>
      flagsOf(names, asks).map(
        ({ name, value }) => `--${name}=${value} has no effect: ${feature} is not there yet; ${cure}`,
      ),
    ),
    ...needless
      .filter(({ isUntold }) => isUntold !== true)
      .flatMap(({ why, [key]: names = [] }) =>
        flagsOf(names, isSet).map(
          ({ name, value }) => `--${name}=${value} has no effect: ${lowerFirst(why)}`,
        ),
      ),
  ]
}

function asks({ value, fallback }: GivenFlag): boolean {
  return value === 'true' || (value !== 'false' && value !== fallback)
}

function isSet({ value, fallback }: GivenFlag): boolean {
  return value !== fallback
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
