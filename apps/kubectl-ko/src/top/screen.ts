import { renderTable, type Column } from '../output.ts'
import { controllerText } from '../view/controller-text.ts'
import type { Leaders } from '../view/leaders.ts'
import type { SlowPod } from '../view/slow-pods.ts'
import type { NodeView, StatusView, SubnetView } from '../view/status-view.ts'

export type Tone = 'title' | 'plain' | 'bad' | 'good' | 'quiet'

export interface ScreenLine {
  readonly text: string
  readonly tone: Tone
}

const nodeColumns: readonly Column<NodeView>[] = [
  { title: 'node', of: ({ name }) => name },
  { title: 'ready', of: ({ isReady, isNetworkReady }) => (isReady && isNetworkReady ? 'yes' : 'no') },
  { title: 'pods', of: ({ pods }) => pods },
  { title: 'waiting', of: ({ waiting }) => waiting },
]

const subnetColumns: readonly Column<SubnetView>[] = [
  { title: 'subnet', of: ({ name }) => name },
  { title: 'vpc', of: ({ vpc }) => vpc },
  { title: 'used', of: ({ used }) => used },
  { title: '%', of: ({ percentUsed }) => percentUsed?.toFixed(1) },
  { title: 'ready', of: ({ isReady }) => (isReady ? 'yes' : 'no') },
]

const slowColumns: readonly Column<SlowPod>[] = [
  { title: 'slow pod', of: ({ pod }) => pod },
  { title: 'node', of: ({ node }) => node },
  { title: 'network', of: ({ isWaiting, seconds }) => (isWaiting ? 'waits' : `took ${seconds}s`) },
  { title: 'since', of: ({ isWaiting, ago }) => (isWaiting ? ago : `${ago} ago`) },
]

/** Who leads, each pod once. */
function leadersText({ leader, leaders }: StatusView): string {
  const led = Map.groupBy(Object.entries(leaders) as [keyof Leaders, string | undefined][], ([, pod]) => pod)
  const ofOvn = [...led].map(([pod, of]) => `${of.map(([name]) => name).join(', ')} ${pod ?? 'none'}`)
  return `leaders: controller ${leader ?? 'none'}; ${ofOvn.join('; ')}`
}

/** Fills a terminal of so many lines: what is wrong first, then slow pods, nodes with most waiting pods, and the fullest subnets. */
export function screenOf(view: StatusView, rows: number): readonly ScreenLine[] {
  const { components, leader, leaders, controller, problems, slowPods } = view
  const head: ScreenLine[] = [
    {
      text: components.map(({ name, ready, wanted }) => `${name} ${ready}/${wanted}`).join('  '),
      tone: components.every(({ ready, wanted }) => ready >= wanted) ? 'plain' : 'bad',
    },
    {
      text: leadersText(view),
      tone: [leader, leaders.nb, leaders.sb, leaders.northd].includes(undefined) ? 'bad' : 'plain',
    },
    ...(controller === undefined ? [] : [{ text: controllerText(view), tone: 'plain' as const }]),
    problems.length === 0
      ? { text: 'no problems', tone: 'good' }
      : { text: `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`, tone: 'bad' },
  ]
  const told = problems.map(({ object, what, cure }): ScreenLine => ({
    text: `  ${object}: ${what}; ${cure}`,
    tone: 'bad',
  }))
  const nodes = view.nodes.toSorted(
    (a, b) => Number(isWell(a)) - Number(isWell(b)) || b.waiting - a.waiting || b.pods - a.pods,
  )
  const subnets = view.subnets.toSorted(
    (a, b) => Number(a.isReady) - Number(b.isReady) || (b.percentUsed ?? 0) - (a.percentUsed ?? 0),
  )
  const free = Math.max(0, rows - head.length)
  // Problems may have half of what is left, slow pods a third of the rest, and nodes half of what is then left.
  const problemPart = cut(told, Math.floor(free / 2))
  const slow = slowPods.length === 0 ? [] : tableLines(slowPods, slowColumns, ({ isWaiting }) => !isWaiting)
  const slowPart = cut(slow, Math.floor((free - problemPart.length) / 3))
  const rest = free - problemPart.length - slowPart.length
  const nodePart = cut(
    tableLines(nodes, nodeColumns, isWell),
    Math.max(Math.floor(rest / 2), rest - subnets.length - 1),
  )
  return [
    ...head,
    ...problemPart,
    ...slowPart,
    ...nodePart,
    ...cut(
      tableLines(subnets, subnetColumns, ({ isReady }) => isReady),
      rest - nodePart.length,
    ),
  ]
}

function isWell({ isReady, isNetworkReady }: NodeView): boolean {
  return isReady && isNetworkReady
}

function tableLines<R>(
  rows: readonly R[],
  columns: readonly Column<R>[],
  isWell: (row: R) => boolean,
): readonly ScreenLine[] {
  const [title = '', ...lines] = renderTable(rows, columns).trimEnd().split('\n')
  return [
    { text: title, tone: 'title' },
    ...lines.map((text, index): ScreenLine => {
      const row = rows[index]
      return { text, tone: row === undefined || isWell(row) ? 'plain' : 'bad' }
    }),
  ]
}

/** As much as fits, with a last line that tells how much does not. */
function cut(lines: readonly ScreenLine[], most: number): readonly ScreenLine[] {
  if (lines.length <= most) return lines
  if (most <= 0) return []
  const shown = lines.slice(0, most - 1)
  return [...shown, { text: `  … ${lines.length - shown.length} more`, tone: 'quiet' }]
}
