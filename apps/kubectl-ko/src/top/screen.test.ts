import { expect, it } from 'vitest'
import type { StatusView } from '../view/status-view.ts'
import { screenOf } from './screen.ts'

function view(nodes: number, subnets: number, problems: number): StatusView {
  const numbered = <T>(count: number, make: (index: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, index) => make(index))
  return {
    isHealthy: problems === 0,
    leader: 'c1',
    controller: undefined,
    slowPods: [],
    leaders: { nb: 'a', sb: 'b', northd: 'a' },
    components: [{ name: 'ovs-ovn', ready: nodes, wanted: nodes, restarts: 0, version: 'v1' }],
    nodes: numbered(nodes, (index) => ({
      name: `n${index}`,
      isReady: index !== 3,
      isNetworkReady: true,
      pods: index,
      waiting: 0,
    })),
    subnets: numbered(subnets, (index) => ({
      name: `s${index}`,
      vpc: 'v',
      cidr: '10.0.0.0/24',
      gateway: 'distributed',
      used: index,
      percentUsed: index,
      isReady: true,
    })),
    problems: numbered(problems, (index) => ({ object: `Pod p${index}`, what: 'waits', cure: 'look' })),
  }
}

it.each([
  [3, 3, 0, 24],
  [200, 100, 0, 24],
  [200, 3, 0, 24],
  [3, 100, 50, 24],
  [200, 100, 50, 50],
  [200, 100, 50, 3],
])('fits %i nodes, %i subnets and %i problems into %i lines', (nodes, subnets, problems, rows) => {
  expect(screenOf(view(nodes, subnets, problems), rows).length).toBeLessThanOrEqual(rows)
})

it('shows everything where there is room', () => {
  expect(screenOf(view(2, 2, 1), 24).map(({ text, tone }) => `${tone}: ${text}`)).toEqual([
    'plain: ovs-ovn 2/2',
    'plain: leaders: controller c1; nb, northd a; sb b',
    'bad: 1 problem',
    'bad:   Pod p0: waits; look',
    'title: NODE   READY   PODS   WAITING',
    'plain: n1     yes     1      0',
    'plain: n0     yes     0      0',
    'title: SUBNET   VPC   USED   %     READY',
    'plain: s1       v     1      1.0   yes',
    'plain: s0       v     0      0.0   yes',
  ])
})

it('puts what is wrong first, and tells how much it leaves out', () => {
  const lines = screenOf(view(200, 100, 50), 24)
  expect(lines.find(({ text }) => text.startsWith('n'))).toEqual({
    text: expect.stringMatching(/^n3 +no /),
    tone: 'bad',
  })
  expect(lines.filter(({ tone }) => tone === 'quiet')).toHaveLength(3)
})

it('shows pods that wait, and says that nobody leads', () => {
  const slow = {
    ...{ pod: 'shop/web', node: 'n1', isWaiting: true, since: '2026-01-01T12:00:00Z' },
    ...{ seconds: 12, ago: '12s' },
  }
  const waiting = {
    ...view(2, 2, 0),
    slowPods: [slow, { ...slow, pod: 'shop/db', isWaiting: false }],
    leaders: { nb: 'a', sb: undefined, northd: 'a' },
  }
  const lines = screenOf(waiting, 24).map(({ text, tone }) => `${tone}: ${text}`)
  expect(lines).toEqual(
    expect.arrayContaining([
      'bad: leaders: controller c1; nb, northd a; sb none',
      'title: SLOW POD   NODE   NETWORK    SINCE',
      'bad: shop/web   n1     waits      12s',
      'plain: shop/db    n1     took 12s   12s ago',
    ]),
  )
  expect(screenOf(waiting, 8).length).toBeLessThanOrEqual(8)
})

it('is quick with many nodes', () => {
  const many = view(200, 500, 1000)
  expect(screenOf(many, 50)).toHaveLength(50)
})
