import type { PolicyTier, TierRow } from './policy-tiers.ts'

const margin = 16
const column = { width: 300, gap: 56 }
const rowHeight = 34
const titleHeight = 40

/** Draws tiers beside each other, in each of them what is asked first on top, as an SVG. */
export function drawTiers(tiers: readonly PolicyTier[], title: string): string {
  const most = Math.max(...tiers.map(({ rows }) => rows.length))
  const size = {
    x: 2 * margin + tiers.length * column.width + (tiers.length - 1) * column.gap,
    y: 2 * margin + titleHeight + most * rowHeight + titleHeight,
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.x}" height="${size.y}" viewBox="0 0 ${size.x} ${size.y}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    '<style>',
    '  text { font-family: system-ui, sans-serif; font-size: 13px; fill: #212529 }',
    '  .t { font-size: 14px; font-weight: 600; text-anchor: middle }',
    '  .p { font-variant-numeric: tabular-nums; fill: #3b5bdb }',
    '  .s { font-size: 12px; fill: #495057; text-anchor: middle }',
    '  .a { stroke: #868e96; stroke-width: 1.5; fill: none }',
    '</style>',
    '<defs><marker id="h" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#868e96"/></marker></defs>',
    `<rect width="${size.x}" height="${size.y}" rx="12" fill="#f8f9fa"/>`,
    ...tiers.flatMap((tier, at) =>
      tierAt(tier, margin + at * (column.width + column.gap), at < tiers.length - 1),
    ),
    `<text class="s" x="${size.x / 2}" y="${size.y - margin}">Whoever allows or denies decides. What passes on, and what nobody names, is for the next tier; behind the last one it is allowed.</text>`,
    '</svg>',
    '',
  ].join('\n')
}

function tierAt({ title, rows }: PolicyTier, x: number, hasNext: boolean): readonly string[] {
  const height = titleHeight + rows.length * rowHeight
  const middle = margin + titleHeight / 2
  return [
    `<rect x="${x}" y="${margin}" width="${column.width}" height="${height}" rx="6" fill="#ffffff" stroke="#2f9e44" stroke-width="1.5"/>`,
    `<text class="t" x="${x + column.width / 2}" y="${middle + 5}">${title}</text>`,
    ...rows.flatMap((row, at) => rowAt(row, x, margin + titleHeight + at * rowHeight)),
    ...(hasNext
      ? [
          `<path class="a" marker-end="url(#h)" d="M${x + column.width} ${middle} H${x + column.width + column.gap}"/>`,
        ]
      : []),
  ]
}

function rowAt({ first, less, rules }: TierRow, x: number, y: number): readonly string[] {
  const priority = less === undefined ? String(first) : `${first} − ${less}`
  return [
    `<path class="a" d="M${x} ${y} H${x + column.width}" stroke-opacity="0.4"/>`,
    `<text class="p" x="${x + 10}" y="${y + 22}">${priority}</text>`,
    `<text x="${x + 104}" y="${y + 22}">${rules}</text>`,
  ]
}
