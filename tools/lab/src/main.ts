import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { KubeOvnError } from '@kube-ovn/errors'
import { finalChecks, productChecks, runChecks } from './checks/all.ts'
import { findLab, openCluster, type Cluster } from './cluster/cluster.ts'
import { findLabs, removeLab } from './cluster/leftovers.ts'
import { plainNode } from './cluster/topology.ts'
import { asksForHelp, parseCommandLine, usage } from './command-line.ts'
import { dashboardsCommand } from './commands/dashboards.ts'
import { faultCommand } from './commands/fault.ts'
import { execIn, printLogs } from './commands/machine.ts'
import { nodeCommand } from './commands/node.ts'
import { bringUp, untilRemovedOnSignal } from './commands/up.ts'
import { describeError } from './describe-error.ts'
import { checkMachine } from './machine-check.ts'
import { LabUsageError } from './errors.ts'
import { runMatrixCommand } from './matrix/command.ts'
import { labDirectory } from './paths.ts'
import { printGroup, printSummary } from './report.ts'

async function main(args: readonly string[]): Promise<number> {
  if (asksForHelp(args)) {
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
      return takeDown(id)
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
    case 'dashboards':
      return onLab(id, (cluster) => dashboardsCommand(cluster, command.rest))
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
  const lab = await findLab(id)
  const isRunning = lab.machines.some(({ name, isRunning }) => name === 'control' && isRunning)
  if (isRunning) return openCluster(lab)
  throw new LabUsageError('the lab does not run', {
    argument: `--id ${id}`,
    cure: `make it anew: npm run lab -- down --id ${id}; npm run lab -- up --id ${id}`,
  })
}

/** That there was none is no failure: then there is nothing to take down. */
async function takeDown(id: string): Promise<number> {
  const labs = await findLabs()
  await removeLab(id)
  if (labs.some(({ topology }) => topology.id === id)) return 0
  const others = labs.map(({ topology }) => topology.id).join(', ')
  process.stdout.write(`there is no lab ${id}${others === '' ? '' : `; there are ${others}`}\n`)
  return 0
}

async function printStatus(): Promise<number> {
  const labs = await findLabs()
  if (labs.length === 0) process.stdout.write('there is no lab; npm run lab -- up makes one\n')
  for (const { topology, nodes, machines, isOwned } of labs) {
    const owner = topology.isKept ? 'kept' : isOwned ? 'in use' : 'left over'
    const running = machines.filter(({ isRunning }) => isRunning).length
    const kubeconfig = join(labDirectory(topology.id), 'kubeconfig')
    const access = existsSync(kubeconfig) ? kubeconfig : 'of another checkout'
    process.stdout.write(
      `${topology.id}  ${nodes.length} nodes, ${topology.stack}, ${topology.podNetwork}  ` +
        `${running} of ${machines.length} machines running  ${owner}  ${access}\n`,
    )
  }
  return 0
}

// Whoever reads has read enough, as head(1) does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  await untilRemovedOnSignal()
  if (!(error instanceof KubeOvnError)) throw error
  process.stderr.write(describeError(error as KubeOvnError))
  process.exitCode = 1
}
