import { inputsOf, type AnyTable } from '@kube-ovn/tables'

const boxHeight = 44
const gap = { x: 64, y: 16 }
const margin = 16
/** Of a letter of a name, which is bold, and of one of what stands below it. */
const letterWidth = { name: 8.6, text: 6.8 }

interface Place {
  readonly table: AnyTable
  readonly x: number
  readonly y: number
  readonly width: number
}

/**
 * Draws which tables are made from which, as an SVG: sources on the left, each table to the right of all that it is made from.
 *
 * @param tables each behind those that it is made from
 */
export function drawTables(tables: readonly AnyTable[], title: string): string {
  const places = new Map<AnyTable, Place>()
  let x = margin
  for (const column of columnsOf(tables)) {
    const width = Math.ceil(Math.max(...column.map(widthOf)))
    let free = margin
    // Beside what they are made from, so that few lines cross.
    for (const [table, middle] of sortedByInputs(column, places)) {
      const y = Math.max(free, Math.round(middle))
      places.set(table, { table, x, y, width })
      free = y + boxHeight + gap.y
    }
    x += width + gap.x
  }
  const size = {
    x: x - gap.x + margin,
    y: Math.max(...[...places.values()].map(({ y }) => y)) + boxHeight + margin,
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.x}" height="${size.y}" viewBox="0 0 ${size.x} ${size.y}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    '<style>',
    '  text { font-family: system-ui, sans-serif; text-anchor: middle; fill: #212529 }',
    '  .t { font-size: 14px; font-weight: 600 }',
    '  .s { font-size: 12px; fill: #495057 }',
    '  .a { stroke: #868e96; stroke-width: 1.5; fill: none }',
    '</style>',
    '<defs><marker id="h" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#868e96"/></marker></defs>',
    `<rect width="${size.x}" height="${size.y}" rx="12" fill="#f8f9fa"/>`,
    ...[...places.values()].flatMap((place) => linesTo(place, places)),
    ...[...places.values()].map(boxOf),
    '</svg>',
    '',
  ].join('\n')
}

function widthOf(table: AnyTable): number {
  const { length } = table.name
  return Math.max(length * letterWidth.name, describe(table).length * letterWidth.text) + 24
}

function columnsOf(tables: readonly AnyTable[]): readonly (readonly AnyTable[])[] {
  const depths = new Map<AnyTable, number>()
  for (const table of tables) {
    const behind = inputsOf(table).map((input) => (depths.get(input) ?? 0) + 1)
    depths.set(table, Math.max(0, ...behind))
  }
  const groups = Map.groupBy(tables, (table) => depths.get(table) ?? 0)
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

function sortedByInputs(
  column: readonly AnyTable[],
  places: ReadonlyMap<AnyTable, Place>,
): readonly (readonly [table: AnyTable, middle: number])[] {
  const middles = column.map((table): [AnyTable, number] => {
    const heights = inputsOf(table).map((input) => places.get(input)?.y ?? 0)
    return [table, heights.reduce((sum, y) => sum + y, 0) / Math.max(1, heights.length)]
  })
  return middles.sort(([, a], [, b]) => a - b)
}

function linesTo({ table, x, y }: Place, places: ReadonlyMap<AnyTable, Place>): readonly string[] {
  return inputsOf(table).flatMap((input) => {
    const from = places.get(input)
    if (from === undefined) return []
    const start = { x: from.x + from.width, y: from.y + boxHeight / 2 }
    const end = { x, y: y + boxHeight / 2 }
    const bend = gap.x * 0.6
    return [
      `<path class="a" marker-end="url(#h)" d="M${start.x} ${start.y} C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}"/>`,
    ]
  })
}

const colors = {
  source: '#3b5bdb',
  row: '#2f9e44',
  union: '#2f9e44',
  group: '#2f9e44',
  selection: '#e8590c',
} as const

function boxOf({ table, x, y, width }: Place): string {
  const { kind } = table.origin
  const middle = x + width / 2
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${boxHeight}" rx="6" fill="#ffffff" stroke="${colors[kind]}" stroke-width="1.5"/>`,
    `<text x="${middle}" y="${y + 19}" class="t">${table.name}</text>`,
    `<text x="${middle}" y="${y + 35}" class="s">${describe(table)}</text>`,
  ].join('\n')
}

function describe(table: AnyTable): string {
  switch (table.origin.kind) {
    case 'source':
      return 'rowsOf' in table ? 'rows of the Northbound' : 'objects'
    case 'row':
      return `for each of ${table.origin.of.name}`
    case 'union':
      return 'rows of them all'
    case 'group':
      return `for each ${table.origin.by} of ${table.origin.of.name}`
    case 'selection':
      return 'by labels'
  }
}
