import { expect, it } from 'vitest'
import { drawTopology } from './picture.ts'
import { topologyOf, type VpcNode } from './tree.ts'

/** VPCs with so many Subnets each; the first is peered with all others. */
function vpcs(...counts: readonly number[]): readonly VpcNode[] {
  const names = counts.map((_, index) => (index === 0 ? 'ovn-cluster' : `vpc-${index}`))
  return topologyOf(
    names.map((name, index) => ({
      metadata: { name },
      spec: {
        vpcPeerings:
          index === 0
            ? names.slice(1).map((remoteVpc) => ({ remoteVpc, localConnectIP: '169.254.0.1/30' }))
            : [],
      },
    })),
    names.flatMap((vpc, index) =>
      Array.from({ length: counts[index] ?? 0 }, (_, subnet) => ({
        metadata: { name: `subnet-${index}-${subnet}` },
        spec: { vpc, cidrBlock: `10.${index}.${subnet}.0/24,fd00:${index}:${subnet}::/64` },
      })),
    ),
  )
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Boxes of one look, in the order in which they are drawn. */
function boxes(svg: string, look: string): readonly Box[] {
  const found = svg.matchAll(
    /<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="(\d+)" fill="#ffffff"/g,
  )
  return [...found]
    .filter(([, , , , , rx]) => rx === look)
    .map(([, x, y, width, height]) => ({
      ...{ x: Number(x), y: Number(y), width: Number(width), height: Number(height) },
    }))
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

it('has a place for each of 5 VPCs and 30 subnets, inside of the VPC, and none over another', () => {
  const svg = drawTopology(vpcs(9, 7, 6, 5, 3))
  const bands = boxes(svg, '10')
  const cards = boxes(svg, '6')
  expect([bands.length, cards.length]).toEqual([5, 30])
  for (const some of [bands, cards])
    for (const [index, box] of some.entries())
      expect(some.slice(index + 1).filter((other) => overlap(box, other))).toEqual([])
  const inside = cards.map((card) =>
    bands.findIndex(
      ({ x, y, width, height }) =>
        card.x > x && card.y > y && card.x + card.width < x + width && card.y + card.height < y + height,
    ),
  )
  expect([0, 1, 2, 3, 4].map((band) => inside.filter((one) => one === band).length)).toEqual([9, 7, 6, 5, 3])
})

it('draws each peering once, with what each end has of it', () => {
  const svg = drawTopology(vpcs(1, 1, 1))
  expect(svg.match(/<path class="p" d="M\d+ \d+ H\d+ Q/g)).toHaveLength(2)
  expect(svg).toContain('>vpc-2 169.254.0.1/30<')
  expect(svg.match(/>ovn-cluster \(not set here\)</g)).toHaveLength(2)
})

it('takes any text for text', () => {
  const svg = drawTopology(
    topologyOf([], [{ metadata: { name: 'blue' }, spec: { vpc: '<script>', cidrBlock: '"&' } }]),
  )
  expect(svg).not.toContain('<script>')
  expect(svg).toContain('&#60;script&#62;')
})

it('says that there is none', () => {
  expect(drawTopology([])).toContain('0 VPCs, 0 subnets')
})
