import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { KubeOvnError } from '@kube-ovn/errors'
import { installChart } from './chart.ts'
import { finalChecks, productChecks, runChecks } from './checks/all.ts'
import { podToPod } from './checks/pod-to-pod.ts'
import { createCluster, openCluster, type Cluster } from './cluster/cluster.ts'
import { claimLabName, findLabs, removeLab, removeLeftovers } from './cluster/leftovers.ts'
import { untilNodesReady } from './cluster/readiness.ts'
import { plainNode } from './cluster/topology.ts'
import { parseCommandLine, usage, type LabCommand } from './command-line.ts'
import { faultCommand } from './commands/fault.ts'
import { nodeCommand } from './commands/node.ts'
import { describeError } from './describe-error.ts'
import { installDns } from './dns.ts'
import { bringUpFakes } from './fake/bring-up.ts'
import { fakesCheck } from './fake/check.ts'
import { checkMachine } from './machine-check.ts'
import { LabUsageError } from './errors.ts'
import { inspectContainer } from './docker/container.ts'
import { closeForCreation } from './docker/engine.ts'
import { insideContainer, runAt } from './namespaces.ts'
import { describePodsNotReady } from './kubernetes/diagnosis.ts'
import { applyAll, readExample } from './kubernetes/manifests.ts'
import { runMatrixCommand } from './matrix/command.ts'
import { labDirectory, programs } from './paths.ts'
import { printGroup, printSummary, step } from './report.ts'
import type { Check } from './checks/check.ts'
import type { FakePlan } from './fake/plan.ts'

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(usage)
    return 0
  }
  const command = parseCommandLine(args)
  const { id } = command.topology
  checkMachine()
  switch (command.verb) {
    case 'run':
    case 'up':
      return bringUp(command)
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
          spec: command.topology.nodes.at(-1) ?? plainNode,
        }),
      )
    case 'fault':
      return onLab(id, (cluster) => faultCommand(cluster, command.rest))
  }
}

async function bringUp(command: LabCommand): Promise<number> {
  const { topology, verb } = command
  await removeLeftovers()
  await claimLabName(topology.id)
  const stop = removeOnSignal(topology.id)
  await using cluster = await step(`cluster of ${topology.nodes.length} nodes`, () => createCluster(topology))
  try {
    await prepare(cluster)
    if (command.fakes.nodes > 0) await bringUpFakes(cluster, command.fakes)
  } catch (error) {
    process.stderr.write(await describePodsNotReady(cluster))
    throw error
  }
  const isOk = verb === 'up' || (await check(cluster, command.fakes))
  if (topology.isKept) printAccess(cluster)
  else await step('tear down', () => removeLab(topology.id))
  stop()
  return isOk ? 0 : 1
}

/** Everything between a bare cluster and one that checks can be run on. */
async function prepare(cluster: Cluster): Promise<void> {
  if (cluster.topology.podNetwork === 'bridge') await untilNodesReady(cluster)
  else await step('helm install', () => installChart(cluster))
  await step('CoreDNS', () => installDns(cluster))
  if (cluster.topology.podNetwork === 'kube-ovn')
    await step('examples', () => applyAll(cluster.api, readExample('01-two-subnets', cluster.topology.stack)))
}

async function check(cluster: Cluster, fakes: FakePlan): Promise<boolean> {
  if (cluster.topology.podNetwork === 'bridge') return true
  const groups = await runChecks(cluster, checksFor(cluster, fakes), printGroup)
  return printSummary(groups)
}

/** Beside many fakes, what the lab usually checks would measure this machine. */
function checksFor(cluster: Cluster, fakes: FakePlan): readonly Check[] {
  if (fakes.nodes > 0) return [fakesCheck(fakes), podToPod]
  return cluster.topology.isKept ? productChecks : [...productChecks, ...finalChecks]
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
  const lab = (await findLabs()).find(({ topology }) => topology.id === id)
  if (lab === undefined)
    throw new LabUsageError('there is no such lab', {
      argument: `--id ${id}`,
      cure: 'npm run lab -- status lists them',
    })
  return openCluster(lab)
}

/** Is there once this process was told to go; what fails from then on fails because of it. */
let ending: Promise<void> | undefined

/** A lab that is not to be kept goes when its process is told to go. */
function removeOnSignal(id: string): () => void {
  const onSignal = (): void => {
    process.stdout.write('\nremoving the lab\n')
    ending = closeForCreation()
      .then(() => removeLab(id))
      .finally(() => process.exit(130))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

function printAccess(cluster: Cluster): void {
  process.stdout.write(`
The lab is left running.

  export KUBECONFIG=${cluster.kubeconfig} PATH=${programs.kubernetes}:$PATH
  kubectl get pods -A -o wide
  kubectl -n kube-system exec deploy/ovn-central -- ovn-nbctl show
  npm run lab -- exec node-1 ip route
  npm run lab -- down --id ${cluster.topology.id}
`)
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
  await ending
  if (!(error instanceof KubeOvnError)) throw error
  process.stderr.write(describeError(error as KubeOvnError))
  process.exitCode = 1
}
