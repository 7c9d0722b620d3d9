import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { upstreamAlerts, upstreamDashboards } from './upstream-dashboards.ts'
import { repository } from './workspace.ts'

interface DashboardFile {
  readonly title: string
  readonly uid: string
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

interface Alert {
  readonly alert: string
  readonly for: string
  readonly labels: { readonly severity: string }
}

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}

const dashboards = globSync('helm/kube-ovn/dashboards/*.json', { cwd: repository }).map(
  (path) => JSON.parse(read(path)) as DashboardFile,
)

describe.each(upstreamDashboards)('$title', ({ title, uid, panels }) => {
  const own = dashboards.find((dashboard) => dashboard.title === title)

  it('takes the place of upstream’s', () => {
    expect(own?.uid).toBe(uid)
  })

  it.each(panels)('shows $about', ({ asks, ours, instead }) => {
    const found = ours.map((name) => own?.panels.find((panel) => panel.title === name))
    expect(found.map((panel) => panel?.title)).toEqual(ours)
    if (ours.length === 0) return expect(instead).toMatch(/\w/)
    const asked = found.flatMap((panel) => panel?.targets ?? []).map(({ expr }) => expr)
    const names = new Set(asked.flatMap((expr) => expr.match(/\b[a-z]\w+\b/g) ?? []))
    expect((Array.isArray(instead) ? instead : asks).filter((name) => !names.has(name))).toEqual([])
  })
})

it('has each of upstream’s alerts, after the same time and as severe', () => {
  const groups = parse(read('helm/kube-ovn/files/alerts.yaml')) as readonly {
    readonly rules: readonly Alert[]
  }[]
  const own = groups
    .flatMap(({ rules }) => rules)
    .filter(({ alert }) => Object.hasOwn(upstreamAlerts, alert))
    .map(({ alert, for: duration, labels }) => [alert, [duration, labels.severity]])
  expect(Object.fromEntries(own)).toEqual(upstreamAlerts)
})
