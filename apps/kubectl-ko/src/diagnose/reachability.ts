/** What a pinger measured of another node, or of its pod, by one family. */
export interface Reached {
  readonly from: string
  readonly to: string
  readonly kind: 'pod' | 'node'
  readonly family: 4 | 6
  readonly sent: number
  readonly lost: number
  /** Average; none when nothing came back. */
  readonly ms: number | undefined
}

/** What is shown of a pair: the worst of what was measured. */
export function cellOf(measured: readonly Reached[]): string {
  const [first] = measured
  if (first === undefined) return ''
  const sent = measured.reduce((sum, one) => sum + one.sent, 0)
  const lost = measured.reduce((sum, one) => sum + one.lost, 0)
  const times = measured.flatMap(({ ms }) => (ms === undefined ? [] : [ms]))
  if (times.length < measured.length) return 'LOST'
  const slowest = Math.max(...times).toFixed(2)
  return lost === 0 ? slowest : `${slowest} (${((100 * lost) / sent).toFixed(0)} % lost)`
}

/** A row for each node that asks, a column for each that is asked. */
export function reachabilityTable(reached: readonly Reached[]): {
  readonly names: readonly string[]
  readonly rows: readonly { readonly from: string; readonly cells: ReadonlyMap<string, string> }[]
} {
  const names = [...new Set(reached.map(({ to }) => to))].toSorted()
  const sources = [...new Set(reached.map(({ from }) => from))].toSorted()
  const rows = sources.map((from) => ({
    from,
    cells: new Map(
      names.map((to) => [to, cellOf(reached.filter((one) => one.from === from && one.to === to))]),
    ),
  }))
  return { names, rows }
}

const side = 56
const label = 150
const colours = ['#d7f0dd', '#b5e2c0', '#f7eeb5', '#f6cf9a', '#ee9d92'] as const
/** Below these, in ms, the colours apply in turn. */
const limits = [0.5, 1, 2, 10] as const

/** Draws the same. */
export function drawReachability(reached: readonly Reached[], title: string): string {
  const { names, rows } = reachabilityTable(reached)
  const width = label + names.length * side + 10
  const height = label + rows.length * 28 + 10
  const text = (x: number, y: number, content: string, more = ''): string =>
    `<text x="${x}" y="${y}"${more}>${escaped(content)}</text>`
  const columns = names.map(
    (name, index) =>
      `<text transform="translate(${label + (index + 0.5) * side},${label - 8}) rotate(-60)">${escaped(name)}</text>`,
  )
  const cells = rows.flatMap(({ from, cells }, row) => [
    text(label - 8, label + row * 28 + 18, from, ' text-anchor="end"'),
    ...names.map((to, column) => {
      const content = cells.get(to) ?? ''
      const [x, y] = [label + column * side, label + row * 28]
      return `<g><title>${escaped(`${from} to ${to}: ${content || 'not asked'}`)}</title><rect x="${x + 1}" y="${y + 1}" width="${side - 2}" height="26" fill="${colourOf(content)}"/>${text(x + side / 2, y + 18, content.split(' ')[0] ?? '', ' text-anchor="middle"')}</g>`
    }),
  ])
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(10, 20, title, ' font-size="13"'),
    ...columns,
    ...cells,
    '</svg>',
  ].join('\n')}\n`
}

function colourOf(content: string): string {
  if (content === '') return '#eeeeee'
  if (content === 'LOST' || content.includes('lost')) return '#ee9d92'
  const place = limits.findIndex((limit) => Number(content) < limit)
  return colours[place === -1 ? colours.length - 1 : place] ?? '#eeeeee'
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
