import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { absentMetrics } from './absent-metrics.ts'
import { measured, type Program } from './measured-metrics.ts'
import { ownMetrics } from './own-metrics.ts'
import { metricsOf } from './registered-metrics.ts'
import { upstreamBuckets, upstreamMetrics, type UpstreamMetrics } from './upstream-metrics.ts'
import { repository } from './workspace.ts'

const sources: Readonly<Record<Program, string>> = {
  controller: 'apps/controller/src',
  agent: 'apps/cni/src/agent',
  pinger: 'apps/pinger/src',
  monitor: 'apps/monitor/src',
  speaker: 'apps/speaker/src',
}

/** What a program calls of the library of metrics, by its sources. */
function registeredBy(program: Program): readonly string[] {
  const files = globSync(`${sources[program]}/**/*.ts`, {
    cwd: repository,
    exclude: (path) => path.endsWith('.test.ts'),
  })
  return [
    ...new Set(
      files
        .map((path) => readFileSync(join(repository, path), 'utf8'))
        .filter((text) => text.includes("from '@kube-ovn/telemetry'"))
        .flatMap((text) => [...text.matchAll(/\b([a-z]\w*Metrics)\(/g)].map(([, name = '']) => name)),
    ),
  ]
}

describe.each(Object.keys(upstreamMetrics) as Program[])('%s', (program) => {
  const wanted: UpstreamMetrics = upstreamMetrics[program]

  it('registers what is measured here', () => {
    expect(registeredBy(program).toSorted()).toEqual(Object.keys(measured[program]).toSorted())
  })

  it("has each of upstream's metrics, with its type, labels and buckets, or is declared not to have it", async () => {
    const missing = absentMetrics(program)
    const ours = await metricsOf(program)
    const seen = Object.keys(wanted)
      .filter((name) => !missing.includes(name))
      .map((name) => {
        const { type, labels = [], buckets } = ours.get(name) ?? {}
        return [name, type, ...labels.toSorted(), buckets]
      })
    const expected = Object.entries(wanted)
      .filter(([name]) => !missing.includes(name))
      .map(([name, [type, ...labels]]) => [name, type, ...[...new Set(labels)].sort(), upstreamBuckets[name]])
    expect(seen).toEqual(expected)
  })

  it('is declared not to have only what upstream has and it has not', async () => {
    const ours = await metricsOf(program)
    expect(absentMetrics(program).filter((name) => ours.has(name) || wanted[name] === undefined)).toEqual([])
  })

  it('has beyond that what is listed as ours, and what its run time tells of itself', async () => {
    const beyond = [...(await metricsOf(program)).keys()].filter((name) => wanted[name] === undefined)
    const own = beyond.filter((name) => !/^(process|nodejs)_/.test(name))
    expect(own.toSorted()).toEqual([...ownMetrics.every, ...ownMetrics[program]].toSorted())
  })

  it('has a sentence about each', async () => {
    const ours = [...(await metricsOf(program))].filter(([name]) => !/^(process|nodejs)_/.test(name))
    expect(ours.filter(([, { help }]) => !/^\S.+\.$/.test(help)).map(([name]) => name)).toEqual([])
  })
})

it('knows the buckets of each of upstream’s histograms', () => {
  const all: readonly UpstreamMetrics[] = Object.values(upstreamMetrics)
  const histograms = all.flatMap((metrics) =>
    Object.entries(metrics).flatMap(([name, [type]]) => (type === 'histogram' ? [name] : [])),
  )
  expect([...new Set(histograms)].toSorted()).toEqual(Object.keys(upstreamBuckets).toSorted())
})
