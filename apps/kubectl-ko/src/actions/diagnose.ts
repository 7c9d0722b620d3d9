import { nodes } from '@kube-ovn/kube'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { checkEnvironment } from '../diagnose/environment.ts'
import { checkCluster } from '../diagnose/cluster-checks.ts'
import { findingColumns, verdictOf, type Finding } from '../diagnose/finding.ts'
import { askPingers, runningPingers } from '../diagnose/pinger.ts'
import { checkSubnet } from '../diagnose/subnet-checks.ts'
import { describeError } from '../describe-error.ts'
import { ComponentMissingError, ObjectMissingError, UsageError } from '../errors.ts'
import { renderData, renderTable } from '../output.ts'

/** What is to be checked. */
export interface Subject {
  readonly type: 'all' | 'node' | 'subnet' | 'IPPorts'
  readonly name: string | undefined
}

/** Checks, and tells what it found. */
export async function showDiagnosis(context: Context, command: Command, subject: Subject): Promise<void> {
  requireSubject(subject)
  await using cluster = await openCluster(context, command)
  const findings = await diagnose(cluster, subject, context.signal)
  const { output, headers: hasHeaders } = outputOf(command)
  const isBrief = command.opts<{ readonly onlyFailed: boolean }>().onlyFailed
  const shown = isBrief ? findings.filter(({ isGood }) => !isGood) : findings
  const verdict = verdictOf(findings)
  print(
    context,
    output === 'json' || output === 'yaml'
      ? renderData({ verdict, findings: shown }, output)
      : `${shown.length === 0 ? '' : `${renderTable(shown, findingColumns, { hasHeaders })}\n`}${verdict}\n`,
  )
  if (findings.some(({ isGood }) => !isGood)) context.exitCode = 1
}

function requireSubject({ type, name }: Subject): void {
  if (type === 'all') {
    if (name !== undefined) throw new UsageError('argument', name, 'leave it out: all takes none')
    return
  }
  if (name === undefined) throw new UsageError(type, '', `write kubectl ko diagnose ${type} and its name`)
  if (type !== 'IPPorts') return
  const wrong = name.split(',').find((one) => !/^(tcp|udp)-[0-9a-fA-F.:]+-\d{1,5}$/.test(one))
  if (wrong !== undefined)
    throw new UsageError('IPPorts', wrong, 'write PROTOCOL-ADDRESS-PORT, e.g. tcp-10.0.0.1-80')
}

async function diagnose(
  cluster: Cluster,
  { type, name = '' }: Subject,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const own = [`--services=${cluster.namespace}/kube-ovn-pinger`]
  switch (type) {
    case 'all': {
      const [state, network] = await Promise.all([checkCluster(cluster), fromEverywhere(cluster, own)])
      return [...state, ...network]
    }
    case 'node': {
      if ((await cluster.client.get(nodes, { name })) === undefined)
        throw new ObjectMissingError('node', name, 'write one of: kubectl get nodes')
      const parts = await Promise.all([
        checkCluster(cluster),
        checkEnvironment(cluster, name),
        fromEverywhere(cluster, own, name),
      ])
      return parts.flat()
    }
    case 'subnet':
      return checkSubnet(cluster, name, signal)
    case 'IPPorts': {
      const pingers = await runningPingers(cluster)
      const found = await askPingers(cluster, pingers, [
        `--target-ip-ports=${name}`,
        ...['--network-mode=none', '--internal-dns=', '--sample-size=1'],
      ])
      return found.filter(({ check }) => check === 'target-ip-ports' || check === 'pinger')
    }
  }
}

/** That there is no pinger to ask is one finding among the others. */
async function fromEverywhere(
  cluster: Cluster,
  flags: readonly string[],
  node?: string,
): Promise<readonly Finding[]> {
  try {
    return await askPingers(cluster, await runningPingers(cluster, node), flags)
  } catch (error) {
    if (!(error instanceof ComponentMissingError)) throw error
    const check = { where: node ?? 'cluster', check: 'pinger', subject: 'kube-ovn-pinger' }
    return [{ ...check, isGood: false, result: describeError(error) }]
  }
}
