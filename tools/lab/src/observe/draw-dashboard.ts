import * as echarts from 'echarts'
import type { Dashboard, Panel } from './dashboards.ts'
import type { Series } from './prometheus.ts'

/** What Prometheus answers to the questions of a panel, in their order. */
export type PanelAnswers = ReadonlyMap<Panel, readonly (readonly Series[])[]>

const column = 52
const row = 30
const gap = 6
const headline = 44
const [titleSize, smallTitleSize] = [12.5, 10.5]
/** Of a legend; others are counted. */
const mostNames = 6
/** Points that belong together. */
const mostApartMs = 10_000
const colours = [
  '#2563eb',
  '#d97706',
  '#059669',
  '#dc2626',
  '#7c3aed',
  '#0891b2',
  '#be185d',
  '#4d7c0f',
  '#475569',
  '#b45309',
]

/** Draws a dashboard from what Prometheus answered, as one SVG. */
export function drawDashboard({ title, panels }: Dashboard, answers: PanelAnswers): string {
  const width = 24 * column
  const height = headline + Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) * row
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif">`,
    `<rect width="${width}" height="${height}" fill="#f1f5f9"/>`,
    `<text x="14" y="29" font-size="19" font-weight="bold" fill="#0f172a">${escape(title)}</text>`,
    ...panels.map((panel, index) => drawPanel(panel, answers.get(panel) ?? [], index)),
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel(panel: Panel, answers: readonly (readonly Series[])[], index: number): string {
  const { x, y, w, h } = panel.gridPos
  const [width, height] = [w * column - gap, h * row - gap]
  const size = panel.title.length * titleSize * 0.64 <= width ? titleSize : smallTitleSize
  const content =
    panel.type === 'stat'
      ? drawFigure(panel, answers, width, height)
      : drawLines(panel, answers, width, height - 24, index)
  return [
    `<g transform="translate(${x * column + gap / 2},${headline + y * row})">`,
    `<rect width="${width}" height="${height}" rx="4" fill="#ffffff" stroke="#cbd5e1"/>`,
    `<text x="10" y="18" font-size="${size}" font-weight="bold" fill="#334155">${escape(fitting(panel.title, width / (size * 0.64)))}</text>`,
    content,
    '</g>',
  ].join('')
}

/** The last value, large. */
function drawFigure(
  panel: Panel,
  answers: readonly (readonly Series[])[],
  width: number,
  height: number,
): string {
  const last = answers[0]?.[0]?.values?.at(-1)?.[1]
  const text = last === undefined ? 'no data' : formatValue(Number(last), panel.fieldConfig.defaults.unit)
  return `<text x="${width / 2}" y="${height / 2 + 22}" font-size="34" text-anchor="middle" fill="#0f172a">${escape(text)}</text>`
}

function drawLines(
  panel: Panel,
  answers: readonly (readonly Series[])[],
  width: number,
  height: number,
  index: number,
): string {
  const { unit } = panel.fieldConfig.defaults
  const series = panel.targets.flatMap(({ legendFormat }, target) =>
    (answers[target] ?? []).map((one) => ({ name: nameOf(legendFormat, one), values: one.values ?? [] })),
  )
  const shown = named(series)
  const rows = Math.ceil(shown.length / 2)
  const legend = shown.map(({ name, colour }, place) =>
    legendEntry(fitting(name, (width / 2 - 34) / 6.6), colour, place, width, height + 14 - 16 * (rows - 1)),
  )
  const more = series.length > shown.length ? ` and ${series.length - shown.length} more` : ''
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({
    animation: false,
    color: colours,
    grid: { left: 62, right: 14, top: 8, bottom: 32 + rows * 16 },
    xAxis: {
      type: 'time',
      axisLabel: {
        fontSize: 10,
        hideOverlap: true,
        alignMinLabel: 'left',
        alignMaxLabel: 'right',
        formatter: '{HH}:{mm}:{ss}',
      },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'value',
      min: 0,
      splitNumber: 4,
      axisLabel: { fontSize: 10, formatter: (value: number) => formatValue(value, unit) },
    },
    series: series.map(({ name, values }) => ({
      type: 'line',
      name,
      showSymbol: false,
      lineStyle: { width: 1.5 },
      data: pointsOf(values),
    })),
  })
  const drawn = chart
    .renderToSVGString()
    // Parts of a drawing are called by numbers, which would be those of other panels.
    .replaceAll(/\bzr\d+-/g, `p${index}-`)
    // What it has for a mouse.
    .replaceAll(/<style[^]*?<\/style>\s*| (?:class|pointer-events)="[^"]*"/g, '')
  chart.dispose()
  const empty =
    series.length === 0
      ? `<text x="${width / 2}" y="${height / 2}" text-anchor="middle" fill="#64748b">no data</text>`
      : ''
  const rest =
    more === ''
      ? ''
      : `<text x="${width - 10}" y="18" font-size="11" text-anchor="end" fill="#64748b">${escape(more.trim())}</text>`
  return `<g transform="translate(0,24)">${drawn}</g>${empty}${rest}${legend.join('')}`
}

interface Line {
  readonly name: string
  readonly values: NonNullable<Series['values']>
}

/** Those that a legend has room for, in their order: the highest, because most of many stay at nothing. */
function named(lines: readonly Line[]): readonly { readonly name: string; readonly colour: string }[] {
  const highest = (values: Line['values']): number =>
    values.reduce((most, [, value]) => Math.max(most, Number(value) || 0), 0)
  return lines
    .map(({ name, values }, index) => ({
      ...{ name, index, highest: highest(values) },
      colour: colours[index % colours.length] ?? '',
    }))
    .toSorted((one, other) => other.highest - one.highest)
    .slice(0, mostNames)
    .toSorted((one, other) => one.index - other.index)
}

/** Values that are none are left out, and so is a line over a time without any. Of equal ones in a row, the first and the last make the line. */
function pointsOf(values: NonNullable<Series['values']>): readonly (readonly [number, number | null])[] {
  let lastMs: number | undefined
  const points = values.flatMap(([second, value]): (readonly [number, number | null])[] => {
    const [ms, number] = [second * 1000, Number(value)]
    if (!Number.isFinite(number)) return []
    const gap: readonly [number, null] = [ms - 1, null]
    const isApart = lastMs !== undefined && ms - lastMs > mostApartMs
    lastMs = ms
    return isApart ? [gap, [ms, number]] : [[ms, number]]
  })
  return points.filter(
    ([, value], index) => points[index - 1]?.[1] !== value || points[index + 1]?.[1] !== value,
  )
}

/** In two columns, below each other. */
function legendEntry(name: string, colour: string, place: number, width: number, top: number): string {
  const x = 12 + (place % 2) * (width / 2)
  const y = top + Math.floor(place / 2) * 16
  return `<rect x="${x}" y="${y - 8}" width="10" height="3" fill="${colour}"/><text x="${x + 15}" y="${y - 2}" font-size="11" fill="#334155">${escape(name)}</text>`
}

/** As Grafana makes it: of labels that the panel names, or of all. */
function nameOf(legendFormat: string, { metric }: Series): string {
  if (legendFormat !== '__auto')
    return legendFormat.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '')
  const labels = Object.entries(metric).filter(([label]) => label !== '__name__')
  return labels.map(([, value]) => value).join(' ') || 'value'
}

/** A value in a unit of Grafana. */
function formatValue(value: number, unit: string): string {
  if (!Number.isFinite(value)) return 'none'
  const short = (number: number): string => String(Number(number.toPrecision(3)))
  switch (unit) {
    case 'bytes':
    case 'Bps': {
      const suffix = unit === 'Bps' ? '/s' : ''
      const power = value < 1 ? 0 : Math.min(4, Math.floor(Math.log2(value) / 10))
      return `${short(value / 1024 ** power)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}${suffix}`
    }
    case 's':
      return value !== 0 && Math.abs(value) < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`
    case 'ms':
      return `${short(value)} ms`
    case 'percentunit':
      return `${short(value * 100)} %`
    case 'pps':
    case 'ops':
    case 'reqps':
      return `${short(value)} /s`
    default:
      return short(value)
  }
}

function fitting(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, Math.max(1, Math.floor(characters) - 1))}…`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
