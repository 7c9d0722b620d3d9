import { docker, ensureTestImage } from '@kube-ovn/testing-docker'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { firing, ordinary, well } from './firing.ts'
import { measured, servedSeries } from './own-series.ts'

const dockerfile = `FROM debian:trixie-slim
RUN apt-get update \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends prometheus \\
 && rm -rf /var/lib/apt/lists/*
`
const chart = join(import.meta.dirname, '../../../../helm/kube-ovn')
const groups = parse(readFileSync(join(chart, 'files/alerts.yaml'), 'utf8')) as readonly {
  readonly rules: readonly { readonly alert: string; readonly expr: string; readonly for: string }[]
}[]
const alerts = groups.flatMap(({ rules }) => rules)
/** Until all of them have had their time, and the longest window of a rate. */
const minutes = 29

let image: string
beforeAll(async () => {
  image = await ensureTestImage('prometheus', { dockerfile })
})

/** Runs promtool on the rules, and on tests of them. */
async function promtool(tests: readonly object[], ...command: readonly string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'kube-ovn-alerts-'))
  try {
    writeFileSync(join(directory, 'rules.json'), JSON.stringify({ groups }))
    const rules = { rule_files: ['rules.json'], evaluation_interval: '1m', tests }
    writeFileSync(join(directory, 'tests.json'), JSON.stringify(rules))
    const place = ['--rm', '--network=none', `--volume=${directory}:/rules:ro`, '--workdir=/rules']
    return await docker('run', ...place, image, 'promtool', ...command)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function inputOf(series: readonly (readonly [string, string])[]): readonly object[] {
  return series.map(([name, values]) => ({ series: name, values }))
}

/** The minute from which on an alert about what began at once has to fire: its window is full of it, and its time is over. */
function statedMinutes({ expr, for: duration }: { readonly expr: string; readonly for: string }): number {
  const windows = [...expr.matchAll(/\[(\d+)m\]/g)].map(([, length]) => Number(length))
  return Math.max(0, ...windows) + Number.parseInt(duration, 10) + 1
}

/** That so many alerts fire at a time. */
function expectation(selector: string, minute: number, count: number): object {
  return {
    expr: `count(ALERTS{alertstate="firing"${selector}}) or vector(0)`,
    eval_time: `${minute}m`,
    exp_samples: [{ labels: '{}', value: count }],
  }
}

it('takes the rules', async () => {
  expect(await promtool([], 'check', 'rules', 'rules.json')).toContain(`${alerts.length} rules found`)
})

it('fires each alert by what it is for, within its stated time and not before', async () => {
  const known = [...Object.keys(firing), ...Object.keys(measured)]
  expect(known.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
  const tests = alerts
    .filter(({ alert }) => firing[alert] !== undefined)
    .map((rule) => ({
      name: rule.alert,
      interval: '1m',
      input_series: inputOf(firing[rule.alert] ?? []),
      promql_expr_test: [
        expectation(`,alertname="${rule.alert}"`, Number.parseInt(rule.for, 10) - 1, 0),
        expectation(`,alertname="${rule.alert}"`, statedMinutes(rule), 1),
        expectation(`,alertname="${rule.alert}"`, minutes, 1),
      ],
    }))
  expect(await promtool(tests, 'test', 'rules', 'tests.json')).toContain('SUCCESS')
})

it('fires none in an hour in which all is well, or in which what is ordinary comes about', async () => {
  const nameOf = (series: string): string => series.replace(/\{.*/, '')
  const hour = Array.from({ length: 61 }, (_, minute) => minute)
  const quiet = well.map(([series, values]) => [series, values.replace(/x30$/, 'x70')] as const)
  // What a scenario has series of itself, it has all of.
  const scenarios: typeof ordinary = { 'all is well': [], ...ordinary }
  const tests = Object.entries(scenarios).map(([name, own]) => {
    const names = new Set(own.map(([series]) => nameOf(series)))
    return {
      name,
      interval: '1m',
      input_series: inputOf([...quiet.filter(([series]) => !names.has(nameOf(series))), ...own]),
      promql_expr_test: hour.map((minute) => expectation('', minute, 0)),
    }
  })
  expect(await promtool(tests, 'test', 'rules', 'tests.json')).toContain('SUCCESS')
})

it('does not begin anew when a scrape fails, or two in a row', async () => {
  const patient = alerts.filter(({ alert, expr }) => alert in firing && expr.includes('last_over_time'))
  expect(patient.length).toBeGreaterThan(8)
  const tests = patient.map(({ alert }) => ({
    name: alert,
    interval: '30s',
    input_series: inputOf(
      (firing[alert] ?? []).map(([series, values]) => [
        series,
        `${values.slice(0, values.indexOf('x'))} stale stale `.repeat(20).trimEnd(),
      ]),
    ),
    promql_expr_test: [expectation(`,alertname="${alert}"`, minutes, 1)],
  }))
  expect(await promtool(tests, 'test', 'rules', 'tests.json')).toContain('SUCCESS')
})

it('fires by the metrics of the programs themselves while something is wrong, and no longer', async () => {
  const stretch = minutes + 1
  const tests = await Promise.all(
    Object.entries(measured).map(async ([alert, measure]) => {
      const rule = alerts.find((one) => one.alert === alert) ?? expect.unreachable(alert)
      const [, job = 'any'] = /\bjob="([^"]+)"/.exec(rule.expr) ?? []
      const names = new Set(rule.expr.match(/\b[a-z_]+\b/g))
      const series = await servedSeries(measure, stretch, (name) => names.has(name), job)
      expect(series, alert).not.toEqual([])
      return {
        name: alert,
        interval: '1m',
        input_series: inputOf(series),
        promql_expr_test: [
          expectation(`,alertname="${alert}"`, Number.parseInt(rule.for, 10) - 1, 0),
          expectation(`,alertname="${alert}"`, statedMinutes(rule), 1),
          expectation(`,alertname="${alert}"`, minutes, 1),
          expectation(`,alertname="${alert}"`, minutes + stretch, 0),
        ],
      }
    }),
  )
  expect(await promtool(tests, 'test', 'rules', 'tests.json')).toContain('SUCCESS')
})
