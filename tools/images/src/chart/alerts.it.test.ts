import { docker, ensureTestImage } from '@kube-ovn/testing-docker'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { firing, well } from './firing.ts'
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

it('fires each alert by what it is for, after its time and not before, and none when all is well', async () => {
  const known = [...Object.keys(firing), ...Object.keys(measured)]
  expect(known.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
  const tests = alerts
    .filter(({ alert }) => firing[alert] !== undefined)
    .map(({ alert, for: duration }) => ({
      name: alert,
      interval: '1m',
      input_series: inputOf(firing[alert] ?? []),
      promql_expr_test: [
        expectation(`,alertname="${alert}"`, Number.parseInt(duration, 10) - 1, 0),
        expectation(`,alertname="${alert}"`, minutes, 1),
      ],
    }))
  const quiet = {
    name: 'all is well',
    interval: '1m',
    input_series: inputOf(well),
    promql_expr_test: [expectation('', minutes, 0)],
  }
  expect(await promtool([...tests, quiet], 'test', 'rules', 'tests.json')).toContain('SUCCESS')
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
      const { expr = '', for: duration = '' } = alerts.find((one) => one.alert === alert) ?? {}
      const names = new Set(expr.match(/\b[a-z_]+\b/g))
      const series = await servedSeries(measure, stretch, (name) => names.has(name))
      expect(series, alert).not.toEqual([])
      return {
        name: alert,
        interval: '1m',
        input_series: inputOf(series),
        promql_expr_test: [
          expectation(`,alertname="${alert}"`, Number.parseInt(duration, 10) - 1, 0),
          expectation(`,alertname="${alert}"`, minutes, 1),
          expectation(`,alertname="${alert}"`, minutes + stretch, 0),
        ],
      }
    }),
  )
  expect(await promtool(tests, 'test', 'rules', 'tests.json')).toContain('SUCCESS')
})
