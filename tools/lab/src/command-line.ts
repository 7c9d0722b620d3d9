import { parseArgs } from 'node:util'
import { presets, routingDaemons, stacks } from './cluster/topology-file.ts'
import { defaultTopology } from './cluster/topology.ts'
import { LabUsageError } from './errors.ts'
import { chooseFakes } from './fake/flags.ts'
import type { FakePlan } from './fake/plan.ts'
import { faultUsage } from './faults/words.ts'
import { chooseTopologies, oneOf, type Topologies } from './topology-flags.ts'

const verbs = [
  'run',
  'up',
  'check',
  'down',
  'status',
  'exec',
  'logs',
  'matrix',
  'node',
  'dashboards',
  'fault',
] as const
type Verb = (typeof verbs)[number]

/** What a lab is made of. */
const shape = [
  ...['topology', 'nodes', 'masters', 'zones', 'nics', 'vlans', 'routers', 'stack', 'cni'],
  ...['fake-nodes', 'fake-pods'],
] as const

/** The options that a verb has beside `--id`, and how many words may follow it. */
const grammar: Readonly<Record<Verb, { readonly options: readonly string[]; readonly words: number }>> = {
  run: { options: ['keep', ...shape], words: 0 },
  up: { options: ['keep', ...shape], words: 0 },
  check: { options: [], words: Infinity },
  down: { options: [], words: 0 },
  status: { options: [], words: 0 },
  exec: { options: [], words: Infinity },
  logs: { options: [], words: 1 },
  matrix: { options: ['json'], words: 1 },
  node: { options: ['new-addresses', 'zones', 'nics'], words: 2 },
  dashboards: { options: [], words: 1 },
  fault: { options: [], words: Infinity },
}

export interface LabCommand {
  readonly verb: Verb
  /** The lab that is meant; what follows are labs that see it. */
  readonly topologies: Topologies
  readonly rest: readonly string[]
  /** For programs rather than people. */
  readonly isJson: boolean
  /** Of `node reboot`. */
  readonly hasNewAddresses: boolean
  /** What is to exist in the API and the Southbound only. */
  readonly fakes: FakePlan
}

export const usage = `npm run lab                          bring up, install, check, tear down
npm run lab -- --keep                the same, but leave it running
npm run lab -- up                    bring up and install, without checks; it is left running
npm run lab -- check [NAME…]         run checks on a lab that is kept
npm run lab -- status                the labs of this machine
npm run lab -- exec MACHINE COMMAND  run a command on control, outside, router-N or node-N
npm run lab -- logs MACHINE          where the logs of a machine are, and their last lines
npm run lab -- matrix [FILE]         who reaches whom, expected against seen; of the example without a file
npm run lab -- dashboards [SECONDS]  draw what the chart's dashboards show while pods come and go and things
                                     break, into docs/public/dashboards
npm run lab -- node add|drain|remove|reboot [NODE]
npm run lab -- fault list|apply FAULT|undo [NUMBER]
npm run lab -- fault drill [SECONDS] FAULT
                                     break, repair, and print which packets between pods of the example were lost
npm run lab -- down                  remove a lab

  --id NAME            which lab, of several side by side; "lab" by default

What a lab is made of:

  --topology NAME      ${Object.keys(presets).join(', ')}, or a file; what follows goes before it
  --nodes N            2 by default
  --masters N          how many of them host the databases; 1 by default
  --zones A,B          zones, given to the nodes in turn
  --nics N             NICs of each node on the physical network; 1 by default
  --vlans N,M          VLANs of the physical network
  --routers A,B        routers on the physical network, each ${routingDaemons.join(' or ')}
  --stack STACK        ${stacks.join(', ')}
  --cni NETWORK        kube-ovn, or bridge to compare with
  --fake-nodes N       nodes that exist in the API and the Southbound only
  --fake-pods N        pods on them

  --json               of matrix: for a program
  --new-addresses      of node reboot: it comes back with other addresses

Faults:
${faultUsage.replaceAll(/^(?=.)/gm, '  ')}`

/** Whether somebody asks what can be asked for; not by an option of a command that is to be run on a machine. */
export function asksForHelp(args: readonly string[]): boolean {
  const [own] = splitAtCommand(args)
  return own[0] === 'help' || own.some((word) => word === '--help' || word === '-h')
}

/**
 * Reads the command line.
 *
 * @throws {LabUsageError} naming the argument and what would have been right
 * @throws {TopologyError} naming field, value and cure
 */
export function parseCommandLine(args: readonly string[]): LabCommand {
  const { values, positionals } = parseWords(args)
  const [verbText = 'run', ...rest] = positionals
  const verb = oneOf('verb', verbText, verbs)
  checkGrammar(verb, rest, Object.keys(values))
  const topologies = chooseTopologies({
    ...values,
    topology: values.topology ?? 'two-nodes',
    id: values.id ?? defaultTopology.id,
    keep: values.keep === true || verb === 'up',
  })
  return {
    verb,
    rest,
    isJson: values.json === true,
    hasNewAddresses: values['new-addresses'] === true,
    fakes: chooseFakes(values, topologies[0]),
    topologies,
  }
}

/** What would be passed over in silence may have been meant. */
function checkGrammar(verb: Verb, rest: readonly string[], given: readonly string[]): void {
  const { options, words } = grammar[verb]
  const details = (argument: string, cure: string) => ({ argument: `${verb} ${argument}`, cure })
  const option = given.find((name) => name !== 'id' && !options.includes(name))
  if (option !== undefined) {
    const known = ['id', ...options].map((name) => `--${name}`).join(', ')
    throw new LabUsageError('the command line is not understood', details(`--${option}`, `only ${known}`))
  }
  const surplus = rest[words]
  if (surplus === undefined) return
  const cure = `at most ${words} ${words === 1 ? 'word' : 'words'} after it; which lab is meant says --id NAME`
  throw new LabUsageError(
    'the command line is not understood',
    details(surplus, words === 0 ? 'nothing after it; which lab is meant says --id NAME' : cure),
  )
}

function parseWords(args: readonly string[]) {
  const [own, command] = splitAtCommand(args)
  try {
    const { values, positionals } = parseArgs({
      // A number below zero is no option.
      args: own.map((word) => (/^-\d+$/.test(word) ? ` ${word}` : word)),
      allowPositionals: true,
      options: {
        keep: { type: 'boolean' },
        json: { type: 'boolean' },
        'new-addresses': { type: 'boolean' },
        topology: { type: 'string' },
        nodes: { type: 'string' },
        masters: { type: 'string' },
        zones: { type: 'string' },
        nics: { type: 'string' },
        vlans: { type: 'string' },
        routers: { type: 'string' },
        stack: { type: 'string' },
        cni: { type: 'string' },
        'fake-nodes': { type: 'string' },
        'fake-pods': { type: 'string' },
        id: { type: 'string' },
      },
    })
    return { values, positionals: [...positionals.map((word) => word.trim()), ...command] }
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    const details = { argument: cause.message, cure: 'npm run lab -- --help lists what there is' }
    throw new LabUsageError('the command line is not understood', details, { cause })
  }
}

/** What follows the machine of `exec` belongs to the command there, options included. */
function splitAtCommand(args: readonly string[]): readonly [readonly string[], readonly string[]] {
  const verb = args.indexOf('exec')
  if (verb === -1) return [args, []]
  let machine = verb + 1
  while (args[machine]?.startsWith('--') === true) machine += args[machine]?.includes('=') === true ? 1 : 2
  const command = args.slice(machine + 1)
  // As kubectl exec takes it.
  return [args.slice(0, machine + 1), command[0] === '--' ? command.slice(1) : command]
}
