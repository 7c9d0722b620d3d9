import type { Outcome } from './outcome.ts'

/** What a pinger measured of another node: the average round trip since it started, and the share of packets without an answer. */
export interface Latency {
  readonly from: string
  readonly to: string
  /** Absent when nothing ever came back. */
  readonly ms: number | undefined
  readonly lossShare: number
}

const cell = { width: 56, height: 26 } as const
const labelWidth = 150
const headerHeight = 150

/** Limits of the colours, in ms: as good as the same rack, the same site, and worse. */
const colours = [
  { below: 0.5, fill: '#d7f0dd' },
  { below: 1, fill: '#b5e2c0' },
  { below: 2, fill: '#f7eeb5' },
  { below: 10, fill: '#f6cf9a' },
  { below: Infinity, fill: '#ee9d92' },
] as const
const unreachable = '#7f1d1d'
const lossy = '#b91c1c'

/** Reads what a pinger's metrics say of pods. Lines of other metrics, and what is no metric, are passed over. */
export function latenciesOf(metrics: string): readonly Latency[] {
  const sums = new Map<
    string,
    { from: string; to: string; sum: number; rounds: number; lost: number; sent: number }
  >()
  for (const line of metrics.split('\n')) {
    const [, field = '', labels = '', value = ''] =
      /^pinger_pod_ping_(latency_ms_sum|latency_ms_count|lost_total|count_total)\{(.*)\} (\S+)$/.exec(line) ??
      []
    const from = /(?:^|,)src_node_name="([^"]*)"/.exec(labels)?.[1]
    const to = /(?:^|,)target_node_name="([^"]*)"/.exec(labels)?.[1]
    if (from === undefined || to === undefined) continue
    const key = JSON.stringify([from, to])
    const one = sums.get(key) ?? { from, to, sum: 0, rounds: 0, lost: 0, sent: 0 }
    sums.set(key, one)
    if (field === 'latency_ms_sum') one.sum += Number(value)
    if (field === 'latency_ms_count') one.rounds += Number(value)
    if (field === 'lost_total') one.lost += Number(value)
    if (field === 'count_total') one.sent += Number(value)
  }
  return [...sums.values()].map(({ from, to, sum, rounds, lost, sent }) => ({
    from,
    to,
    ms: rounds === 0 ? undefined : sum / rounds,
    lossShare: sent === 0 ? 0 : lost / sent,
  }))
}

/** The row of the one who has just asked. */
export function measuredLatencies(from: string, outcomes: readonly Outcome[]): readonly Latency[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'ping' || outcome.target.kind !== 'pod') return []
    const { target, roundTripMs, sent } = outcome
    const sum = roundTripMs.reduce((total, ms) => total + ms, 0)
    const ms = roundTripMs.length === 0 ? undefined : sum / roundTripMs.length
    const lossShare = sent === 0 ? 0 : 1 - roundTripMs.length / sent
    return [{ from, to: target.labels['target_node_name'] ?? '', ms, lossShare }]
  })
}

/** Draws who reaches whom, and how fast: a row for each node that asks. */
export function drawLatencyMatrix(latencies: readonly Latency[]): string {
  const names = [...new Set(latencies.flatMap(({ from, to }) => [from, to]))].toSorted()
  const place = new Map(names.map((name, index) => [name, index]))
  const width = labelWidth + names.length * cell.width + 10
  const height = headerHeight + names.length * cell.height + 10
  const columns = names.map((name, index) => {
    const x = labelWidth + (index + 0.5) * cell.width
    return `<text transform="translate(${x},${headerHeight - 8}) rotate(-60)">${escape(name)}</text>`
  })
  const rows = names.map(
    (name, index) =>
      `<text x="${labelWidth - 8}" y="${headerHeight + index * cell.height + 17}" text-anchor="end">${escape(name)}</text>`,
  )
  const cells = latencies.map((latency) =>
    drawCell(latency, place.get(latency.from) ?? 0, place.get(latency.to) ?? 0),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    '<text x="10" y="20" font-size="13">Round trip from row to column, ms</text>',
    ...columns,
    ...rows,
    ...cells,
    '</svg>',
    '',
  ].join('\n')
}

function drawCell({ from, to, ms, lossShare }: Latency, row: number, column: number): string {
  const [x, y] = [labelWidth + column * cell.width, headerHeight + row * cell.height]
  const fill = ms === undefined ? unreachable : (colours.find(({ below }) => ms < below)?.fill ?? unreachable)
  const lost = lossShare > 0 ? `, ${(lossShare * 100).toFixed(1)} % lost` : ''
  const text = ms === undefined ? '✕' : ms.toFixed(2)
  const stroke = lossShare > 0 ? ` stroke="${lossy}" stroke-width="2"` : ''
  return (
    `<g><title>${escape(`${from} to ${to}: ${ms === undefined ? 'no answer' : `${text} ms`}${lost}`)}</title>` +
    `<rect x="${x + 1}" y="${y + 1}" width="${cell.width - 2}" height="${cell.height - 2}" fill="${fill}"${stroke}/>` +
    `<text x="${x + cell.width / 2}" y="${y + 17}" text-anchor="middle"${ms === undefined ? ' fill="#ffffff"' : ''}>${text}</text></g>`
  )
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
