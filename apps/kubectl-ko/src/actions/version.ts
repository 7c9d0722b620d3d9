import { deployments, type Resource } from '@kube-ovn/kube'
import type { Command } from 'commander'
import { podsOf } from '../components.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { readAll, type Workload } from '../facts.ts'
import { render } from '../output.ts'
import { skewOf, version } from '../version.ts'

/** Tells the versions of all, and whether they fit. */
export async function showVersions(context: Context, command: Command): Promise<void> {
  await using cluster = await openCluster(context, command)
  const [text, workloads, controllers] = await Promise.all([
    cluster.client.read('/version'),
    readAll(cluster, deployments as Resource<Workload>, { namespace: cluster.namespace }),
    podsOf(cluster, 'kube-ovn-controller'),
  ])
  const { gitVersion } = JSON.parse(text) as { readonly gitVersion: string }
  const tags = controllers.flatMap(({ spec }) => spec.containers.map(({ image = '' }) => tagOf(image)))
  const rows = [
    { name: 'kubectl-ko', version },
    ...[...new Set(tags)].map((tag) => ({ name: 'kube-ovn-controller', version: tag })),
    { name: 'kubernetes', version: gitVersion },
  ]
  const columns = [
    { title: 'component', of: (row: (typeof rows)[number]) => row.name },
    { title: 'version', of: (row: (typeof rows)[number]) => row.version },
  ]
  const skew = skewOf(version, tags)
  print(
    context,
    render(
      { data: { ...Object.fromEntries(rows.map((row) => [row.name, row.version])), skew }, rows, columns },
      outputOf(command),
    ),
  )
  if (skew !== undefined) context.stderr.write(`kubectl-ko: ${skew}\n`)
  if (workloads.length === 0)
    context.stderr.write(`kubectl-ko: Kube-OVN is not in namespace ${cluster.namespace}\n`)
}

function tagOf(image: string): string {
  return /:([^:/@]+)(@.*)?$/.exec(image)?.[1] ?? 'latest'
}
