import { readFileSync } from 'node:fs'
import { chartNamespace } from '../chart.ts'
import { ofStack, worldAddress, worldName } from '../cluster/topology.ts'
import { podProcesses, tryAt } from '../namespaces.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'

const program = '/kube-ovn/pinger.mjs'

/** What a pinger found that checks once, and how it ended. */
export interface PingerJob {
  readonly exitCode: number
  /** Names of its checks. */
  readonly good: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
}

/**
 * Has the pinger of a pod check once, the same as it always does.
 *
 * Its container is entered: for `kubectl exec`, kubelet asks the API server, from which the node may be cut off.
 */
export async function runPingerJob(
  cluster: Cluster,
  pod: PodObject,
  flags: readonly string[] = [],
): Promise<PingerJob> {
  const pid = podProcesses(pod.metadata.uid ?? '').find((id) => textOf(id, 'cmdline').includes(program))
  if (pid === undefined) throw new Error(`the pinger of ${pod.metadata.name} does not run`)
  const addresses = ofStack(cluster.topology.stack, worldAddress).join()
  const { exitCode, stdout, stderr } = await tryAt(
    { machinePid: pid, networkPid: pid },
    [
      ...['node', program, '--mode=job', '--output=json', '--enable-verbose-conn-check=true'],
      ...[`--external-address=${addresses}`, `--external-dns=${worldName}.`],
      ...[`--services=${chartNamespace}/kube-ovn-pinger`, ...flags],
    ],
    { env: environmentOf(pid), timeoutMs: 120_000 },
  )
  if (!stdout.startsWith('[')) throw new Error(`a job of the pinger told nothing: ${stdout}${stderr}`)
  const outcomes = JSON.parse(stdout) as readonly { readonly check: string; readonly ok: boolean }[]
  const named = (isOk: boolean): ReadonlySet<string> =>
    new Set(outcomes.filter(({ ok }) => ok === isOk).map(({ check }) => check))
  return { exitCode, good: named(true), failed: named(false) }
}

function environmentOf(pid: number): Readonly<Record<string, string>> {
  const variables = textOf(pid, 'environ').matchAll(/([^=\0]+)=([^\0]*)/g)
  return Object.fromEntries([...variables].map(([, name = '', value = '']) => [name, value] as const))
}

function textOf(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
