import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '../paths.ts'

/** A panel of a dashboard of the chart, as far as it is read here. */
export interface Panel {
  readonly title: string
  readonly type: 'stat' | 'timeseries'
  /** In columns, of which there are 24, and rows. */
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig: { readonly defaults: { readonly unit: string } }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

export interface Dashboard {
  /** Of its file: `controller`. */
  readonly name: string
  readonly title: string
  readonly panels: readonly Panel[]
}

const folder = join(repository, 'helm/kube-ovn/dashboards')

/** The dashboards of the chart, by name, with all instances chosen. */
export const dashboards: readonly Dashboard[] = globSync('*-grafana.json', { cwd: folder })
  .toSorted()
  .map((file) => {
    const text = readFileSync(join(folder, file), 'utf8').replaceAll('$instance', '.+')
    return { ...(JSON.parse(text) as Omit<Dashboard, 'name'>), name: basename(file, '-grafana.json') }
  })
