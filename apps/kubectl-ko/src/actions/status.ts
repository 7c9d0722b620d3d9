import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { readFacts } from '../facts.ts'
import { renderData, renderTable, type Column, type OutputChoice } from '../output.ts'
import { skewOf, version } from '../version.ts'
import {
  statusView,
  type ComponentView,
  type NodeView,
  type Problem,
  type StatusView,
  type SubnetView,
} from '../view/status-view.ts'
import { controllerText } from '../view/controller-text.ts'
import { ledNames } from '../view/leaders.ts'
import type { SlowPod } from '../view/slow-pods.ts'

/** Tells the state of the whole. */
export async function showStatus(context: Context, command: Command): Promise<void> {
  await using cluster = await openCluster(context, command)
  const view = statusView(await readFacts(cluster), Date.now())
  print(context, renderView(view, outputOf(command)))
  const skew = skewOf(
    version,
    view.components
      .filter(({ name }) => name === 'kube-ovn-controller')
      .flatMap(({ version: tags }) => tags.split(',')),
  )
  if (skew !== undefined) context.stderr.write(`kubectl-ko: ${skew}\n`)
  if (!view.isHealthy) context.exitCode = 1
}

const componentColumns: readonly Column<ComponentView>[] = [
  { title: 'component', of: ({ name }) => name },
  { title: 'ready', of: ({ ready, wanted }) => `${ready}/${wanted}` },
  { title: 'restarts', of: ({ restarts }) => restarts },
  { title: 'version', of: ({ version }) => version, isWide: true },
]

interface LeaderView {
  readonly of: string
  readonly leader: string | undefined
}

const leaderColumns: readonly Column<LeaderView>[] = [
  { title: 'leader of', of: (view) => view.of },
  { title: 'is', of: ({ leader }) => leader ?? 'nobody' },
]

function leaderViews({ leader, leaders }: StatusView): readonly LeaderView[] {
  return [
    { of: ledNames.nb, leader: leaders.nb },
    { of: ledNames.sb, leader: leaders.sb },
    { of: ledNames.northd, leader: leaders.northd },
    { of: 'kube-ovn-controller', leader },
  ]
}

const nodeColumns: readonly Column<NodeView>[] = [
  { title: 'node', of: ({ name }) => name },
  { title: 'ready', of: ({ isReady }) => (isReady ? 'yes' : 'no') },
  { title: 'network', of: ({ isNetworkReady }) => (isNetworkReady ? 'yes' : 'no') },
  { title: 'pods', of: ({ pods }) => pods },
  { title: 'waiting', of: ({ waiting }) => waiting },
]

const subnetColumns: readonly Column<SubnetView>[] = [
  { title: 'subnet', of: ({ name }) => name },
  { title: 'vpc', of: ({ vpc }) => vpc },
  { title: 'cidr', of: ({ cidr }) => cidr },
  { title: 'gateway', of: ({ gateway }) => gateway, isWide: true },
  { title: 'ready', of: ({ isReady }) => (isReady ? 'yes' : 'no') },
  { title: 'used', of: ({ used }) => used },
  { title: '%', of: ({ percentUsed }) => percentUsed?.toFixed(0) },
]

const slowColumns: readonly Column<SlowPod>[] = [
  { title: 'slow pod', of: ({ pod }) => pod },
  { title: 'node', of: ({ node }) => node },
  { title: 'network', of: ({ isWaiting, seconds }) => (isWaiting ? 'waits' : `took ${seconds}s`) },
  { title: 'since', of: ({ isWaiting, ago }) => (isWaiting ? ago : `${ago} ago`) },
  { title: 'on its node', of: ({ since }) => since, isWide: true },
]

const problemColumns: readonly Column<Problem>[] = [
  { title: 'problem', of: ({ object }) => object },
  { title: 'what', of: ({ what }) => what },
  { title: 'what to do', of: ({ cure }) => cure },
]

/** As it was asked for. */
export function renderView(view: StatusView, { output, headers }: OutputChoice): string {
  return output === 'json' || output === 'yaml'
    ? renderData(view, output)
    : renderStatus(view, { isWide: output === 'wide', hasHeaders: headers })
}

/** For people. */
function renderStatus(
  view: StatusView,
  options: { readonly isWide: boolean; readonly hasHeaders: boolean },
): string {
  const { components, nodes, subnets, slowPods, problems } = view
  return [
    renderTable(components, componentColumns, options),
    `${renderTable(leaderViews(view), leaderColumns, options)}\n${controllerText(view)}\n`,
    renderTable(nodes, nodeColumns, options),
    renderTable(subnets, subnetColumns, options),
    ...(slowPods.length === 0 ? [] : [renderTable(slowPods, slowColumns, options)]),
    problems.length === 0 ? 'no problems\n' : renderTable(problems, problemColumns, options),
  ].join('\n')
}
