import type { Measured } from './programs.ts'

/** What was measured between two ends, with messages of one size. */
export interface PerfRow extends Measured {
  readonly path: 'pod' | 'host' | 'service'
  readonly size: number
}

const colours = { pod: '#1c7ed6', host: '#868e96', service: '#9c36b5' } as const

const panels: readonly {
  readonly title: string
  readonly of: (row: PerfRow) => number | undefined
  readonly text: (value: number) => string
}[] = [
  { title: 'TCP latency', of: (row) => row.tcpLatencySeconds, text: timeText },
  { title: 'UDP latency', of: (row) => row.udpLatencySeconds, text: timeText },
  { title: 'TCP bandwidth', of: (row) => row.tcpBitsPerSecond, text: rateText },
  { title: 'UDP bandwidth that arrives', of: (row) => row.udpBitsPerSecond, text: rateText },
]

export function timeText(seconds: number): string {
  return seconds < 0.001 ? `${(seconds * 1e6).toFixed(1)} us` : `${(seconds * 1e3).toFixed(2)} ms`
}

export function rateText(bits: number): string {
  const [limit, unit] = bits >= 1e9 ? [1e9, 'Gbit/s'] : bits >= 1e6 ? [1e6, 'Mbit/s'] : [1e3, 'kbit/s']
  return `${(bits / limit).toFixed(2)} ${unit}`
}

const [left, bar, barGap, groupGap] = [70, 14, 2, 12] as const
const [panelWidth, barLength, head] = [430, 250, 34] as const

/** Draws bars: a panel for each figure, a group for each size, and in it a bar for each path. */
export function drawPerf(rows: readonly PerfRow[], title: string): string {
  const sizes = [...new Set(rows.map(({ size }) => size))].toSorted((a, b) => a - b)
  const paths = (['pod', 'host', 'service'] as const).filter((path) => rows.some((row) => row.path === path))
  const groupHeight = paths.length * (bar + barGap) + groupGap
  const panelHeight = head + sizes.length * groupHeight
  const [width, height] = [2 * panelWidth + 20, 70 + 2 * panelHeight]
  const drawn = panels.flatMap(({ title: name, of, text }, index) => {
    const [x, y] = [10 + (index % 2) * panelWidth, 60 + Math.floor(index / 2) * panelHeight]
    const most = Math.max(...rows.map((row) => of(row) ?? 0), Number.MIN_VALUE)
    const groups = sizes.flatMap((size, group) =>
      paths.flatMap((path, line) => {
        const row = rows.find((one) => one.path === path && one.size === size)
        const value = row && of(row)
        const top = y + head + group * groupHeight + line * (bar + barGap)
        const length = ((value ?? 0) / most) * barLength
        const words = value === undefined ? 'nothing came back' : text(value)
        return [
          line === 0
            ? `<text x="${x + left - 8}" y="${top + 11}" text-anchor="end">${size} bytes</text>`
            : '',
          `<rect x="${x + left}" y="${top}" width="${Math.max(1, length).toFixed(1)}" height="${bar}" fill="${colours[path]}"/>`,
          `<text x="${(x + left + length + 6).toFixed(1)}" y="${top + 11}">${words}</text>`,
        ]
      }),
    )
    return [`<text class="n" x="${x + left}" y="${y + 20}">${name}</text>`, ...groups]
  })
  const legend = paths.map((path, index) => {
    const x = 10 + left + index * 110
    return `<rect x="${x}" y="36" width="12" height="12" fill="${colours[path]}"/><text x="${x + 18}" y="46">${path}</text>`
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    '<style>',
    '  text { font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 11.5px; fill: #495057 }',
    '  .n { font-size: 14px; font-weight: 600; fill: #212529 }',
    '</style>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text class="n" x="${10 + left}" y="24">${escaped(title)}</text>`,
    ...legend,
    ...drawn.filter((line) => line !== ''),
    '</svg>',
  ].join('\n')}\n`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
