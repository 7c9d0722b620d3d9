import type { Command, Option } from 'commander'

/** What stands for objects of the cluster among candidates. */
export type ObjectKind = 'nodes' | 'pods' | 'vpcs'

export interface Candidates {
  readonly words: readonly string[]
  /** Names of these could stand there as well. */
  readonly objects: ObjectKind | undefined
}

/**
 * What the last of the words may become.
 *
 * @param words after the name of the program; the last one is being written, and may be empty
 */
export function candidatesOf(program: Command, words: readonly string[]): Candidates {
  const current = words.at(-1) ?? ''
  let command = program
  let position = 0
  let pending: Option | undefined
  for (const word of words.slice(0, -1)) {
    if (pending !== undefined) {
      pending = undefined
    } else if (word.startsWith('-')) {
      pending = word.includes('=') ? undefined : valueOptionOf(command, word)
    } else {
      const child = command.commands.find((one) => one.name() === word)
      if (child === undefined) position++
      else [command, position] = [child, 0]
    }
  }
  if (pending !== undefined) return only(pending.argChoices ?? [], current)
  if (current.startsWith('-')) return only(flagsOf(command), current)
  if (position === 0 && command.commands.length > 0) return only(namesOf(command), current)
  const argument = command.registeredArguments[position]
  return only(argument?.argChoices ?? [], current, objectsOf(argument?.name() ?? ''))
}

function only(words: readonly string[], beginning: string, objects?: ObjectKind): Candidates {
  return { words: words.filter((word) => word.startsWith(beginning)).toSorted(), objects }
}

/** Those that are for scripts alone begin with an underscore. */
function namesOf({ commands }: Command): readonly string[] {
  return commands.map((one) => one.name()).filter((name) => !name.startsWith('_'))
}

function flagsOf(command: Command): readonly string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--help']
}

/** The flag, when a value has to follow it. */
function valueOptionOf(command: Command, word: string): Option | undefined {
  return command.options.find(
    ({ long, short, required, optional }) => (required || optional) && (long === word || short === word),
  )
}

function objectsOf(argument: string): ObjectKind | undefined {
  switch (argument) {
    case 'node':
      return 'nodes'
    case 'pod':
    case 'source':
      return 'pods'
    case 'vpc':
      return 'vpcs'
    default:
      return undefined
  }
}
