/**
 * Writes the dashboards of the chart.
 *
 *     node tools/generate/src/dashboards/main.ts            write
 *     node tools/generate/src/dashboards/main.ts --check    exit 1 when one is stale
 */
import { globSync } from 'node:fs'
import { formatted, removeGenerated, root, writeGenerated } from '../generated-file.ts'
import { renderDashboard } from './dashboard.ts'
import { dashboards } from './dashboards.ts'

const directory = 'helm/kube-ovn/dashboards'
const paths = dashboards.map(({ name }) => `${directory}/${name}-grafana.json`)

for (const [index, dashboard] of dashboards.entries()) {
  const path = paths[index] ?? ''
  writeGenerated(
    'dashboards',
    path,
    await formatted(path, JSON.stringify(renderDashboard(dashboard), undefined, 2)),
  )
}
for (const path of globSync(`${directory}/*.json`, { cwd: root }))
  if (!paths.includes(path)) removeGenerated('dashboards', path)
