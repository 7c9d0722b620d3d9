import { parser } from '@prometheus-io/lezer-promql'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Program } from './measured-metrics.ts'
import { metricsOf, type Registered } from './registered-metrics.ts'
import { repository } from './workspace.ts'

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

interface DashboardFile {
  readonly title: string
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

const jobs: Readonly<Record<string, Program>> = {
  'kube-ovn-controller': 'controller',
  'kube-ovn-cni': 'agent',
  'kube-ovn-pinger': 'pinger',
  'kube-ovn-monitor': 'monitor',
  'kube-ovn-speaker': 'speaker',
}
/** What Prometheus itself adds to every series, and to the buckets of a histogram. */
const ofEverySeries = ['job', 'instance']
const metrics = new Map(
  await Promise.all(
    Object.entries(jobs).map(async ([job, program]) => [job, await metricsOf(program)] as const),
  ),
)

interface Selector {
  readonly name: string
  readonly labels: readonly string[]
  readonly job: string | undefined
}

interface Query {
  readonly selectors: readonly Selector[]
  /** Of its first aggregation that takes labels away; `undefined` without one. */
  readonly grouping: readonly string[] | undefined
  /** Of all of them. */
  readonly grouped: readonly string[]
  readonly wrong: readonly string[]
}

/** Takes a query of PromQL apart. */
function readQuery(expr: string): Query {
  const text = ({ from, to }: { readonly from: number; readonly to: number }): string => expr.slice(from, to)
  const selectors: { name: string; labels: string[]; job: string | undefined }[] = []
  const groupings: string[][] = []
  const wrong: string[] = []
  parser.parse(expr).iterate({
    enter(node) {
      const { parent } = node.node
      if (node.type.isError) wrong.push(text(node))
      else if (node.name === 'AggregateExpr' && !/^(topk|bottomk)\b/.test(text(node))) groupings.push([])
      else if (node.name === 'Identifier' && parent?.name === 'VectorSelector')
        selectors.push({ name: text(node), labels: [], job: undefined })
      else if (node.name === 'LabelName' && parent?.name === 'GroupingLabels')
        groupings.at(-1)?.push(text(node))
      else if (node.name === 'UnquotedLabelMatcher') {
        const [, label = '', operator, value = ''] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(text(node)) ?? []
        const selector = selectors.at(-1)
        selector?.labels.push(label)
        if (selector !== undefined && label === 'job' && operator === '=') selector.job = value
      }
    },
  })
  return { selectors, grouping: groupings[0], grouped: groupings.flat(), wrong }
}

/** The series that a name in a query stands for, with the labels that it has. */
function seriesOf({ name, job }: Selector): Pick<Registered, 'type' | 'labels'> | undefined {
  if (name === 'up') return { type: 'gauge', labels: ofEverySeries }
  for (const [own, registered] of metrics) {
    if (job !== undefined && job !== own) continue
    const plain = registered.get(name)
    if (plain !== undefined && plain.type !== 'histogram')
      return { ...plain, labels: [...plain.labels, ...ofEverySeries] }
    const [, base = '', part] = /^(.+)_(bucket|sum|count)$/.exec(name) ?? []
    const histogram = registered.get(base)
    if (histogram?.type === 'histogram')
      return {
        ...histogram,
        labels: [...histogram.labels, ...ofEverySeries, ...(part === 'bucket' ? ['le'] : [])],
      }
  }
  return undefined
}

/** What of a query, and of the labels that a text about its result names, nobody ever shows. */
function unknownIn(expr: string, named: readonly string[]): readonly string[] {
  const { selectors, grouping, grouped, wrong } = readQuery(expr)
  const known = selectors.map((selector) => ({ selector, series: seriesOf(selector) }))
  const all = new Set(known.flatMap(({ series }) => series?.labels ?? []))
  const ofResult = grouping === undefined ? all : new Set(grouping)
  return [
    ...wrong.map((text) => `no PromQL: ${text}`),
    ...(selectors.length === 0 ? ['no series at all'] : []),
    ...known.flatMap(({ selector: { name, labels }, series }) =>
      series === undefined
        ? [name]
        : labels.filter((label) => !series.labels.includes(label)).map((label) => `${name}{${label}}`),
    ),
    ...grouped.filter((label) => !all.has(label)).map((label) => `by (${label})`),
    ...named.filter((label) => !ofResult.has(label)).map((label) => `{{${label}}}`),
  ]
}

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}

const groups = parse(read('helm/kube-ovn/files/alerts.yaml')) as readonly {
  readonly rules: readonly Alert[]
}[]
const alerts = groups.flatMap(({ rules }) => rules)

describe.each(alerts)('$alert', ({ alert, expr, for: duration, labels, annotations }) => {
  it('asks for series that there are, and speaks of labels that its result has', () => {
    const named = Object.values(annotations).flatMap((text) =>
      [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
    )
    expect(unknownIn(expr, named)).toEqual([])
  })

  it('has a severity, and a page that says what it means, how to look and what to do', () => {
    expect(['critical', 'warning']).toContain(labels['severity'])
    expect(annotations['runbook']).toBe(`docs/user/runbooks/${alert}.md`)
    const page = read(`docs/user/runbooks/${alert}.md`)
    expect(page).toContain(`\`${expr}\` for ${duration}; ${labels['severity']}.`)
    expect(page.match(/^#+ .*$/gm)).toEqual([
      `# ${alert}`,
      '## What it means',
      '## How to look',
      '## What to do',
    ])
  })
})

it('has a page for each alert, and no other, all of them in the index', () => {
  const pages = globSync('docs/user/runbooks/*.md', { cwd: repository }).map((path) => basename(path, '.md'))
  const names = alerts.map(({ alert }) => alert)
  expect(pages.toSorted()).toEqual([...names, 'index'].sort())
  const listed = [...read('docs/user/runbooks/index.md').matchAll(/^\| \[(\w+)\]/gm)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(names.toSorted())
})

describe.each(globSync('helm/kube-ovn/dashboards/*.json', { cwd: repository }))('%s', (path) => {
  const { panels } = JSON.parse(read(path)) as DashboardFile
  it.each(panels)('has series for $title', ({ targets }) => {
    for (const { expr, legendFormat } of targets) {
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      expect(unknownIn(expr, named)).toEqual([])
    }
  })
})

describe('unknownIn', () => {
  it.each([
    { expr: 'up{job="kube-ovn-cni"} ==', unknown: ['no PromQL'] },
    { expr: 'no_such_series > 0', unknown: ['no_such_series'] },
    { expr: 'pinger_ovs_down{job="kube-ovn-cni"}', unknown: ['pinger_ovs_down'] },
    { expr: 'pinger_ovs_down{node="a"}', unknown: ['pinger_ovs_down{node}'] },
    { expr: 'sum by (node) (pinger_ovs_down)', unknown: ['by (node)'] },
    { expr: 'cni_op_latency_seconds', unknown: ['cni_op_latency_seconds'] },
    { expr: 'sum(pinger_ovs_down)', unknown: ['{{nodeName}}'], named: ['nodeName'] },
  ])('finds fault with $expr', ({ expr, unknown, named = [] }) => {
    const found = unknownIn(expr, named)
    expect(found).toHaveLength(unknown.length)
    for (const [index, text] of unknown.entries()) expect(found[index]).toContain(text)
  })
})
