import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { KubeOvnError } from '@kube-ovn/errors'
import { finalChecks, productChecks, runChecks } from './checks/all.ts'
import { findLab, openCluster, type Cluster } from './cluster/cluster.ts'
import { findLabs, removeLab } from './cluster/leftovers.ts'
import { plainNode } from './cluster/topology.ts'
import { parseCommandLine, usage } from './command-line.ts'
import { faultCommand } from './commands/fault.ts'
import { nodeCommand } from './commands/node.ts'
import { bringUp, untilRemovedOnSignal } from './commands/up.ts'
import { describeError } from './describe-error.ts'
import { checkMachine } from './machine-check.ts'
import { LabUsageError } from './errors.ts'
import { inspectContainer } from './docker/container.ts'
import { insideContainer, runAt } from './namespaces.ts'
import { runMatrixCommand } from './matrix/command.ts'
import { labDirectory } from './paths.ts'
import { printGroup, printSummary } from './report.ts'

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(usage)
    return 0
  }
  const command = parseCommandLine(args)
  const { id } = command.topologies[0]
  checkMachine()
  switch (command.verb) {
    case 'run':
    case 'up':
      return bringUp(command.topologies, { isChecked: command.verb === 'run', fakes: command.fakes })
    case 'check':
      return onLab(id, (cluster) => checkAgain(cluster, command.rest))
    case 'down':
      await removeLab(id)
      return 0
    case 'status':
      return printStatus()
    case 'exec':
      return execIn(id, command.rest)
    case 'logs':
      return printLogs(id, command.rest)
    case 'matrix':
      return onLab(id, (cluster) => runMatrixCommand(cluster, command.rest[0], command.isJson))
    case 'node':
      return onLab(id, (cluster) =>
        nodeCommand(cluster, command.rest, {
          hasNewAddresses: command.hasNewAddresses,
          spec: command.topologies[0].nodes.at(-1) ?? plainNode,
        }),
      )
    case 'fault':
      return onLab(id, (cluster) => faultCommand(cluster, command.rest))
  }
}

/** Runs checks, all or by name, on a lab that was kept. */
async function checkAgain(cluster: Cluster, names: readonly string[]): Promise<number> {
  const all = [...productChecks, ...finalChecks]
  const chosen = names.length === 0 ? productChecks : all.filter(({ name }) => names.includes(name))
  if (chosen.length < names.length) {
    const cure = `names from: ${all.map(({ name }) => name).join('; ')}`
    throw new LabUsageError('the command line is not understood', { argument: names.join(' '), cure })
  }
  return printSummary(await runChecks(cluster, chosen, printGroup)) ? 0 : 1
}

/** Does something with a lab that is kept. */
async function onLab(id: string, work: (cluster: Cluster) => Promise<number>): Promise<number> {
  const cluster = await openLab(id)
  try {
    return await work(cluster)
  } finally {
    cluster.api[Symbol.dispose]()
  }
}

async function openLab(id: string): Promise<Cluster> {
  return openCluster(await findLab(id))
}

async function printStatus(): Promise<number> {
  for (const { topology, nodes, containers, running, isOwned } of await findLabs()) {
    const owner = topology.isKept ? 'kept' : isOwned ? 'in use' : 'left over'
    process.stdout.write(
      `${topology.id}  ${nodes.length} nodes, ${topology.stack}, ${topology.podNetwork}  ` +
        `${running} of ${containers} machines running  ${owner}  ${labDirectory(topology.id)}/kubeconfig\n`,
    )
  }
  return 0
}

/** Runs a command on a machine of the lab with the terminal's input and output. */
async function execIn(id: string, [machine = 'node-1', ...command]: readonly string[]): Promise<number> {
  const container = await inspectContainer(`kube-ovn-${id}-${machine}`)
  const words = command.length === 0 ? ['bash'] : command
  const child = spawn('nsenter', ['--all', `--target=${container.pid}`, '--', ...words], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

async function printLogs(id: string, [machine = 'control']: readonly string[]): Promise<number> {
  const directory = join(labDirectory(id), 'logs', machine)
  const container = await inspectContainer(`kube-ovn-${id}-${machine}`)
  for (const file of readdirSync(directory)) {
    process.stdout.write(`── ${join(directory, file)}\n`)
    process.stdout.write(
      await runAt(insideContainer(container), ['tail', '-n', '20', `/var/log/lab/${file}`]),
    )
  }
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  await untilRemovedOnSignal()
  if (!(error instanceof KubeOvnError)) throw error
  process.stderr.write(describeError(error as KubeOvnError))
  process.exitCode = 1
}
