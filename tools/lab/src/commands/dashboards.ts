import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboards, type Dashboard } from '../observe/dashboards.ts'
import { drawDashboard } from '../observe/draw-dashboard.ts'
import { accelerated, startPrometheus, type Prometheus } from '../observe/prometheus.ts'
import { beWatched, liveFor } from '../observe/watched-life.ts'
import { repository } from '../paths.ts'
import { step } from '../report.ts'
import { wholeNumber } from '../topology-flags.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** Of which pictures tell, when it is not said how much; s. */
const defaultSeconds = 240
const maxSeconds = 3600
const folder = join(repository, 'docs/public/dashboards')

/**
 * `dashboards [SECONDS]`: has a Prometheus scrape the lab for a while, in which pods come and go and something breaks now and then, and draws what
 * the chart's dashboards show then; that of speakers where there are routers.
 */
export async function dashboardsCommand(cluster: Cluster, [words]: readonly string[]): Promise<number> {
  const seconds = words === undefined ? defaultSeconds : wholeNumber('dashboards', words, maxSeconds)
  const chosen = dashboards.filter(({ name }) => name !== 'speaker' || cluster.routers.length > 0)
  await using _watched = await step('what is watched', () => beWatched(cluster))
  await using prometheus = await startPrometheus(cluster)
  await step(`${seconds} s are scraped`, () => liveFor(cluster, seconds))
  for (const path of await drawDashboards(prometheus, chosen, seconds)) process.stdout.write(`${path}\n`)
  if (chosen.length < dashboards.length) process.stdout.write('none of speakers: it takes --routers frr\n')
  return 0
}

/** Draws each dashboard of the last seconds, and answers the files. */
async function drawDashboards(
  prometheus: Prometheus,
  chosen: readonly Dashboard[],
  seconds: number,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true })
  const paths: string[] = []
  for (const dashboard of chosen) {
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
