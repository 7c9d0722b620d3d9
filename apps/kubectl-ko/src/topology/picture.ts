import type { SubnetNode, VpcNode } from './tree.ts'

const margin = 20
const router = { width: 250, headHeight: 50 } as const
const card = { width: 236, height: 92, gap: 16 } as const
/** Subnets side by side. */
const perRow = 4
/** Between the lines of two peerings. */
const laneWidth = 18
const bandGap = 26
/** Between the router and its subnets: the line that they share. */
const trunk = 34
const lineHeight = 16
/** Of routes and policies of a VPC; the tree has all of them. */
const mostDetails = 6

/** How traffic leaves, by the colour of a subnet's edge. */
const kinds = {
  distributed: { colour: '#1c7ed6', says: 'out on each node' },
  centralized: { colour: '#9c36b5', says: 'out by a gateway node' },
  physical: { colour: '#2b8a3e', says: 'underlay: out by the physical gateway' },
} as const

interface Band {
  readonly vpc: VpcNode
  readonly y: number
  readonly height: number
  readonly details: readonly string[]
  /** VPCs that it is peered with, or that say so; each has a line at its router. */
  readonly neighbours: readonly string[]
}

interface Peering {
  readonly from: Band
  readonly to: Band
  /** What each end says, where it has an address. */
  readonly addresses: readonly [string | undefined, string | undefined]
}

/** Draws VPCs below each other as an SVG: the router on the left, its subnets on a line to the right, peerings at the edge. */
export function drawTopology(vpcs: readonly VpcNode[]): string {
  const bands = bandsOf(vpcs)
  const peerings = peeringsOf(bands)
  const left = margin + (peerings.length === 0 ? 0 : (peerings.length + 1) * laneWidth)
  const columns = Math.max(1, Math.min(perRow, Math.max(0, ...vpcs.map(({ subnets }) => subnets.length))))
  const width = left + router.width + trunk + columns * (card.width + card.gap) + margin
  const last = bands.at(-1)
  const legendY = last === undefined ? margin : last.y + last.height + bandGap
  const height = legendY + lineHeight + margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${countOf(vpcs.length, 'VPC')}, ${countOf(vpcs.flatMap(({ subnets }) => subnets).length, 'subnet')}</title>`,
    '<style>',
    '  text { font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 11.5px; fill: #495057 }',
    '  .n { font-size: 14px; font-weight: 600; fill: #212529 }',
    '  .w { fill: #ffffff } .v { font-size: 15px; font-weight: 600; fill: #ffffff }',
    '  .m { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 11px; fill: #212529 }',
    '  .l { stroke: #868e96; stroke-width: 1.5; fill: none }',
    '  .p { stroke: #e8590c; stroke-width: 2; fill: none } .pt { fill: #d9480f }',
    '</style>',
    `<rect width="${width}" height="${height}" rx="12" fill="#f8f9fa"/>`,
    ...bands.flatMap((band) => bandPicture(band, left, width - left - margin)),
    ...peerings.flatMap((peering, lane) => peeringPicture(peering, left, left - (lane + 1) * laneWidth)),
    ...legend(left, legendY),
    '</svg>',
    '',
  ].join('\n')
}

function bandsOf(vpcs: readonly VpcNode[]): readonly Band[] {
  const names = new Set(vpcs.map(({ name }) => name))
  let y = margin
  return vpcs.map((vpc) => {
    const details = detailsOf(vpc, names)
    const rows = Math.max(1, Math.ceil(vpc.subnets.length / perRow))
    const saying = vpcs.filter(({ peerings }) => peerings.some((peering) => peering.vpc === vpc.name))
    const neighbours = [
      ...new Set([...vpc.peerings, ...saying.map(({ name }) => ({ vpc: name }))].map((one) => one.vpc)),
    ]
    const height = Math.max(
      rows * (card.height + card.gap) + card.gap,
      router.headHeight + (details.length + neighbours.length) * lineHeight + 2 * card.gap + 8,
    )
    const band = { vpc, y, height, details, neighbours }
    y += height + bandGap
    return band
  })
}

function detailsOf({ routes, policies, peerings }: VpcNode, names: ReadonlySet<string>): readonly string[] {
  const all = [
    ...routes.map(
      ({ cidr, nextHop, table }) => `${cidr} by ${nextHop}${table === '' ? '' : `, table ${table}`}`,
    ),
    ...peerings.filter(({ vpc }) => !names.has(vpc)).map(({ vpc }) => `peering with ${vpc}: no such VPC`),
    ...policies.map(({ priority, action, match }) => `${priority} ${action}: ${match}`),
  ]
  if (all.length <= mostDetails) return all
  const shown = all.slice(0, mostDetails - 1)
  return [...shown, `… ${all.length - shown.length} more routes and policies`]
}

/** Each pair of VPCs once; both of them may tell of it. */
function peeringsOf(bands: readonly Band[]): readonly Peering[] {
  return bands.flatMap((from, index) =>
    bands.slice(index + 1).flatMap((to): Peering[] => {
      if (!from.neighbours.includes(to.vpc.name)) return []
      const there = from.vpc.peerings.find(({ vpc }) => vpc === to.vpc.name)
      const back = to.vpc.peerings.find(({ vpc }) => vpc === from.vpc.name)
      return [{ from, to, addresses: [there?.address, back?.address] }]
    }),
  )
}

function bandPicture(band: Band, left: number, width: number): readonly string[] {
  const { vpc, y, height, details } = band
  const [x, top, bottom] = [left + card.gap, y + card.gap, y + height - card.gap]
  const trunkX = x + router.width - card.gap + trunk / 2
  const rows = Math.ceil(vpc.subnets.length / perRow)
  const rowY = (row: number): number => top + row * (card.height + card.gap)
  const cardX = (column: number): number =>
    left + router.width + trunk + column * (card.width + card.gap) - card.gap / 2
  return [
    `<rect x="${left}" y="${y}" width="${width}" height="${height}" rx="10" fill="#ffffff" stroke="#dee2e6"/>`,
    // From the router, down beside the rows, and along each of them.
    ...(rows === 0
      ? [text(trunkX, top + 30, 'no subnets')]
      : [
          `<path class="l" d="M${x + router.width - card.gap} ${top + 25} H${trunkX} V${rowY(rows - 1) - 8}"/>`,
          `<path class="l" d="M${trunkX} ${top + 25} V${rowY(0) - 8}"/>`,
        ]),
    ...Array.from({ length: rows }, (_, row) => {
      const inRow = Math.min(perRow, vpc.subnets.length - row * perRow)
      return `<path class="l" d="M${trunkX} ${rowY(row) - 8} H${cardX(inRow - 1) + card.width / 2}"/>`
    }),
    `<rect x="${x}" y="${top}" width="${router.width - card.gap}" height="${bottom - top}" rx="8" fill="#e7f5ff" stroke="#a5d8ff"/>`,
    `<path d="M${x} ${top + router.headHeight} V${top + 8} q0 -8 8 -8 H${x + router.width - card.gap - 8} q8 0 8 8 V${top + router.headHeight} Z" fill="#1864ab"/>`,
    text(x + 12, top + 22, vpc.name, 'v', 24),
    text(
      x + 12,
      top + 40,
      `router${vpc.isDefault ? ' of the default VPC' : ''}, ${countOf(vpc.subnets.length, 'subnet')}`,
      'w',
    ),
    ...details.map((detail, index) =>
      text(x + 12, top + router.headHeight + 20 + index * lineHeight, detail, 'm', 31),
    ),
    ...vpc.subnets.flatMap((subnet, index) =>
      cardPicture(subnet, cardX(index % perRow), rowY(Math.floor(index / perRow))),
    ),
  ]
}

function cardPicture(subnet: SubnetNode, x: number, y: number): readonly string[] {
  const { name, cidrs, egress, traits, namespaces } = subnet
  const { colour } = kinds[subnet.egressKind]
  const middle = x + card.width / 2
  const what = [...traits, ...(namespaces.length === 0 ? [] : [`for ${namespaces.join(', ')}`])].join(' · ')
  return [
    `<path class="l" d="M${middle} ${y - 8} V${y}"/>`,
    `<rect x="${x}" y="${y}" width="${card.width}" height="${card.height}" rx="6" fill="#ffffff" stroke="#ced4da"/>`,
    `<rect x="${x}" y="${y}" width="6" height="${card.height}" rx="3" fill="${colour}"/>`,
    text(x + 16, y + 20, name, 'n', 25),
    text(x + 16, y + 38, cidrs[0] ?? 'no CIDR', 'm', 31),
    ...(cidrs[1] === undefined ? [] : [text(x + 16, y + 52, cidrs[1], 'm', 31)]),
    text(x + 16, y + 68, `out ${egress}`, '', 34),
    text(x + 16, y + 83, what, '', 34),
  ]
}

function peeringPicture({ from, to, addresses }: Peering, left: number, lane: number): readonly string[] {
  const ends = [from, to].map((band, end) => {
    const { name } = (end === 0 ? to : from).vpc
    const y = band.y + band.height - card.gap - 10 - band.neighbours.indexOf(name) * lineHeight
    const says = `${name} ${addresses[end] ?? '(not set here)'}`
    return { y, label: text(left + card.gap + 12, y + 4, says, 'm pt', 31) }
  })
  const [start = 0, stop = 0] = ends.map(({ y }) => y)
  const edge = left + card.gap
  return [
    `<path class="p" d="M${edge} ${start} H${lane + 8} Q${lane} ${start} ${lane} ${start + 8} V${stop - 8} Q${lane} ${stop} ${lane + 8} ${stop} H${edge}"/>`,
    ...ends.flatMap(({ y, label }) => [`<circle cx="${edge}" cy="${y}" r="4" fill="#e8590c"/>`, label]),
  ]
}

function legend(left: number, y: number): readonly string[] {
  const entries = Object.values(kinds).map(({ colour, says }, index) => {
    const x = left + index * 250
    return `<rect x="${x}" y="${y - 4}" width="6" height="16" rx="3" fill="${colour}"/>${text(x + 12, y + 8, says)}`
  })
  const x = left + 3 * 250
  return [...entries, `<path class="p" d="M${x} ${y + 4} h18"/>${text(x + 26, y + 8, 'peering')}`]
}

/** The whole of what is cut is shown by browsers, on pointing at it. */
function text(x: number, y: number, content: string, kind = '', most = Infinity): string {
  const shown = content.length <= most ? content : `${content.slice(0, most - 1)}…`
  const whole = shown === content ? '' : `<title>${escaped(content)}</title>`
  return `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${whole}${escaped(shown)}</text>`
}

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
