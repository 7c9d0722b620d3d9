import { expect, it } from 'vitest'
import type { Panel } from './dashboards.ts'
import { drawDashboard } from './draw-dashboard.ts'
import { accelerated } from './prometheus.ts'

const gridPos = { x: 0, y: 0, w: 8, h: 8 }

function panel(title: string, type: Panel['type'], unit: string, legendFormat = '__auto'): Panel {
  return { title, type, gridPos, fieldConfig: { defaults: { unit } }, targets: [{ expr: 'x', legendFormat }] }
}

it('draws figures and lines in their units, with names that the panel gives them, and says where there is no data', () => {
  const memory = panel('Memory', 'stat', 'bytes')
  const lost = panel('Lost <packets>', 'timeseries', 'percentunit', '{{ from }} to {{to}}')
  const nothing = panel('Nothing', 'timeseries', 'short')
  const lines = Array.from({ length: 8 }, (_, index) => ({
    metric: { from: `n${index}`, to: 'b&c' },
    values: [
      [1000, '0'],
      [1001, 'NaN'],
      [1002, '0.5'],
    ] as const,
  }))
  const answers = new Map([
    [
      memory,
      [
        [
          {
            metric: {},
            values: [
              [1000, '1'],
              [1001, '3145728'],
            ] as const,
          },
        ],
      ],
    ],
    [lost, [lines]],
    [nothing, [[]]],
  ])
  const svg = drawDashboard({ name: 'a', title: 'A dashboard', panels: [memory, lost, nothing] }, answers)
  for (const text of [
    '>A dashboard<',
    '>3 MiB<',
    'Lost &lt;packets&gt;',
    '>n0 to b&amp;c<',
    '>and 2 more<',
    '50 %',
  ])
    expect(svg).toContain(text)
  expect(svg.match(/>no data</g)).toHaveLength(1)
  expect(svg).not.toContain('NaN')
})

it('draws a line that stands still from its first and its last value, and nothing that a picture has no use for', () => {
  const still = panel('Still', 'timeseries', 'short')
  const drawn = (...seconds: readonly number[]): string => {
    const values = seconds.map((second) => [second, second === 1009 ? '1' : '0'] as const)
    const answers = new Map([[still, [[{ metric: { of: 'a' }, values }]]]])
    return drawDashboard({ name: 'a', title: 'A dashboard', panels: [still] }, answers)
  }
  const svg = drawn(1000, 1001, 1002, 1005, 1008, 1009)
  expect(svg).toBe(drawn(1000, 1008, 1009))
  expect(svg).not.toBe(drawn(1000, 1009))
  expect(svg).not.toMatch(/<style|pointer-events|class=/)
})

it('names the lines that rise, where there is no room for all', () => {
  const checks = panel('Checks', 'timeseries', 'short')
  const lines = Array.from({ length: 9 }, (_, index) => ({
    metric: { check: `check-${index}` },
    values: [1, 2, 3].map((second) => [second, index === 8 && second === 2 ? '1' : '0'] as const),
  }))
  const svg = drawDashboard({ name: 'a', title: 'A', panels: [checks] }, new Map([[checks, [lines]]]))
  expect([...svg.matchAll(/>(check-\d)</g)].map(([, name]) => name)).toEqual([
    ...['check-0', 'check-1', 'check-2', 'check-3', 'check-4'],
    'check-8',
  ])
  expect(svg).toContain('>and 3 more<')
})

it('makes minutes of rules as much shorter as scrapes are', () => {
  expect(accelerated('rate(kube_ovn_5m_total{a="b"}[5m]) > 10')).toBe(
    'rate(kube_ovn_5m_total{a="b"}[20s]) > 10',
  )
  expect(accelerated('15m')).toBe('60s')
})
