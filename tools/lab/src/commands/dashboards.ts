import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { dashboards } from '../observe/dashboards.ts'
import { drawDashboard } from '../observe/draw-dashboard.ts'
import { accelerated, startPrometheus, type Prometheus } from '../observe/prometheus.ts'
import { repository } from '../paths.ts'
import { step } from '../report.ts'
import { wholeNumber } from '../topology-flags.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** Of which pictures tell, when it is not said how much; s. */
const defaultSeconds = 120
const maxSeconds = 3600
const folder = join(repository, 'docs/public/dashboards')

/** `dashboards [SECONDS]`: has a Prometheus scrape the lab for a while, and draws what the chart's dashboards show then. */
export async function dashboardsCommand(cluster: Cluster, [words]: readonly string[]): Promise<number> {
  const seconds = words === undefined ? defaultSeconds : wholeNumber('dashboards', words, maxSeconds)
  await using prometheus = await startPrometheus(cluster)
  await step(`${seconds} s are scraped`, () => delay(seconds * 1000))
  for (const path of await drawDashboards(prometheus, seconds)) process.stdout.write(`${path}\n`)
  return 0
}

/** Draws each dashboard of the last seconds, and answers the files. */
async function drawDashboards(prometheus: Prometheus, seconds: number): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true })
  const paths: string[] = []
  for (const dashboard of dashboards) {
    const answers = new Map()
    for (const panel of dashboard.panels) {
      const questions = panel.targets.map(({ expr }) => prometheus.queryRange(accelerated(expr), seconds))
      answers.set(panel, await Promise.all(questions))
    }
    const path = join(folder, `${dashboard.name}.svg`)
    writeFileSync(path, drawDashboard(dashboard, answers))
    paths.push(path)
  }
  return paths
}
