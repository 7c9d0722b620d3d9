import { parseArgs } from 'node:util'
import { LabUsageError } from './errors.ts'
import { defaultTopology, type PodNetwork, type Stack, type Topology } from './cluster/topology.ts'

const verbs = ['run', 'up', 'check', 'down', 'status', 'exec', 'logs', 'matrix'] as const
type Verb = (typeof verbs)[number]

export interface LabCommand {
  readonly verb: Verb
  readonly topology: Topology
  readonly rest: readonly string[]
  /** For programs rather than people. */
  readonly isJson: boolean
}

export const usage = `npm run lab                          bring up, install, check, tear down
npm run lab -- --keep                the same, but leave it running
npm run lab -- up                    bring up and install, without checks
npm run lab -- check [NAME…]         run checks on a lab that is kept
npm run lab -- status                the labs of this machine
npm run lab -- exec MACHINE COMMAND  run a command on control, outside or node-N
npm run lab -- logs MACHINE          where the logs of a machine are, and their last lines
npm run lab -- matrix [FILE]         who reaches whom, expected against seen; of the example without a file
npm run lab -- down                  remove a lab

  --nodes N            2 by default
  --stack STACK        dual, ipv4 or ipv6
  --cni NETWORK        kube-ovn, or bridge to compare with
  --id NAME            for several labs side by side
  --json               the matrix for a program
`

/**
 * Reads the command line.
 *
 * @throws {LabUsageError} naming the argument and what would have been right
 */
export function parseCommandLine(args: readonly string[]): LabCommand {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      keep: { type: 'boolean', default: false },
      nodes: { type: 'string', default: String(defaultTopology.nodes) },
      stack: { type: 'string', default: defaultTopology.stack },
      cni: { type: 'string', default: defaultTopology.podNetwork },
      id: { type: 'string', default: defaultTopology.id },
      json: { type: 'boolean', default: false },
    },
  })
  const [verbText = 'run', ...rest] = positionals
  const verb = oneOf('verb', verbText, verbs)
  const nodes = Number(values.nodes)
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 200)
    throw new LabUsageError('the command line is not understood', {
      argument: `--nodes ${values.nodes}`,
      cure: 'a number from 1 to 200',
    })
  if (!/^[a-z][a-z0-9-]{0,20}$/.test(values.id))
    throw new LabUsageError('the command line is not understood', {
      argument: `--id ${values.id}`,
      cure: 'lower case letters, digits and dashes',
    })
  return {
    verb,
    rest,
    isJson: values.json,
    topology: {
      id: values.id,
      nodes,
      stack: oneOf<Stack>('--stack', values.stack, ['dual', 'ipv4', 'ipv6']),
      podNetwork: oneOf<PodNetwork>('--cni', values.cni, ['kube-ovn', 'bridge']),
      isKept: values.keep || verb === 'up',
    },
  }
}

function oneOf<T extends string>(argument: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined)
    throw new LabUsageError('the command line is not understood', {
      argument: `${argument} ${value}`,
      cure: `one of ${allowed.join(', ')}`,
    })
  return found
}
