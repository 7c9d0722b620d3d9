import { groupTable, rowTable, selectionTable, sourceTable } from '@kube-ovn/tables'
import { expect, it } from 'vitest'
import { drawTables } from './picture.ts'

const pods = sourceTable({ name: 'pods', indexes: { node: (node: string) => [node] } })
const nodes = sourceTable<string>({ name: 'nodes' })
const crowds = groupTable({ name: 'crowds', of: pods, by: 'node', rows: () => [] })
const places = rowTable({ name: 'places', of: pods, reads: { nodes, crowds }, row: (node) => node })
const chosen = selectionTable({
  name: 'chosen',
  objects: pods,
  object: () => ({ labels: {} }),
  selectors: nodes,
  selector: () => ({ selector: {} }),
})

/** Where the boxes are, by the names in them. */
function boxes(svg: string): ReadonlyMap<string, { readonly x: number; readonly y: number }> {
  const found = svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)".*\n<text.*class="t">(.*)<\/text>/g)
  return new Map([...found].map(([, x, y, name = '']) => [name, { x: Number(x), y: Number(y) }]))
}

it('draws each table once, to the right of all that it is made from, with a line from each of these', () => {
  const svg = drawTables([pods, nodes, crowds, places, chosen], 'tables')
  const found = boxes(svg)
  const x = (name: string): number => found.get(name)?.x ?? Number.NaN
  expect([...found.keys()].sort()).toEqual(['chosen', 'crowds', 'nodes', 'places', 'pods'])
  expect(x('pods')).toBe(x('nodes'))
  expect(x('crowds')).toBeGreaterThan(x('pods'))
  expect(x('chosen')).toBe(x('crowds'))
  expect(x('places')).toBeGreaterThan(x('crowds'))
  expect(new Set([...found.values()].map((place) => `${place.x} ${place.y}`)).size).toBe(5)
  expect(svg.match(/<path class="a"/g)).toHaveLength(6)
  expect(svg).toContain('for each node of pods')
})
