import { parser } from '@prometheus-io/lezer-promql'
import { accelerated, alertRules, dashboards, eventually, type Prometheus } from '@kube-ovn/lab'
import { expect } from 'vitest'

export const patience = { timeoutMs: 120_000, pauseMs: 1000 }

/** A cluster without routers has no speaker. */
export const isOfSpeaker = (name: string): boolean => /speaker|Bgp|RoutesNotAdvertised/.test(name)
/** The data path of a lab, in userspace, has no masks; and rows are held only where somebody has to decide. */
const withoutSeriesHere = ['kube_ovn_dp_masks_hit_ratio', 'kube_ovn_orphans_held']

/** What an expression is for, and the expression. */
type Asked = readonly [what: string, expression: string]

/** Which of these expressions have no series. */
async function withoutSeries(
  prometheus: Prometheus,
  expressions: readonly Asked[],
): Promise<readonly Asked[]> {
  const missing: Asked[] = []
  for (const [what, expression] of expressions)
    if (
      !withoutSeriesHere.some((name) => expression.includes(name)) &&
      (await prometheus.query(expression)).length === 0
    )
      missing.push([what, expression])
  return missing
}

/** The series that an alert is about, whatever values they have: its expression finds something only when all is not well. */
function selectorsOf(expression: string): readonly string[] {
  const found: string[] = []
  parser.parse(expression).iterate({
    enter({ name, from, to }) {
      // What is asked for by the value of a status may never have been.
      if (name === 'VectorSelector') found.push(expression.slice(from, to).replace(/status_code!="200"/, ''))
    },
  })
  return found
}

/**
 * Expects series for every panel of dashboards, and for every alert, of which the names are chosen.
 *
 * @param fewest panels' questions that there must be
 */
export async function expectSeries(
  prometheus: Prometheus,
  isChosen: (name: string) => boolean,
  fewest: number,
): Promise<void> {
  const panels = dashboards
    .filter(({ name }) => isChosen(name))
    .flatMap(({ name, panels: all }) =>
      all.flatMap(({ title, targets }) =>
        targets.map(({ expr }): Asked => [`${name}, ${title}`, accelerated(expr)]),
      ),
    )
  const chosen = alertRules.filter(({ alert }) => isChosen(alert))
  const alerts = chosen.flatMap(({ alert, expr }) =>
    selectorsOf(expr).map((selector): Asked => [alert, selector]),
  )
  expect(panels.length).toBeGreaterThan(fewest)
  expect(new Set(alerts.map(([alert]) => alert)).size).toBe(chosen.length)
  let missing: readonly Asked[] = [...panels, ...alerts]
  await eventually(
    'everything has series',
    async () => {
      // A scrape that a busy machine misses takes some away for a moment: each is there at one time or another.
      missing = await withoutSeries(prometheus, missing)
      return missing.length === 0 ? true : undefined
    },
    patience,
  ).catch((error: unknown) => {
    expect(
      missing.map(([what, expression]) => `${what}: ${expression}`),
      String(error),
    ).toEqual([])
    throw error
  })
}

/** Each of them fires at one time or another: what hangs too long is started again, and its alert ends. */
export async function expectToFire(prometheus: Prometheus, alerts: readonly string[]): Promise<void> {
  const silent = new Set(alerts)
  await eventually(
    `${alerts.join(', ')} fire`,
    async () => {
      for (const alert of await prometheus.firing()) silent.delete(alert)
      return silent.size === 0 ? true : undefined
    },
    patience,
  ).catch((error: unknown) => {
    expect([...silent], String(error)).toEqual([])
    throw error
  })
}
