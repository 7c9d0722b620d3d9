import { readFileSync, writeFileSync } from 'node:fs'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { node, pod } from '@kube-ovn/testing-builders'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from './control-cluster.ts'

/** Run by one-pod.it.test.ts and by the benchmark `feature-test`: one feature test, again and again, and what it costs. */
const { ONE_POD_TESTS = '3', ONE_POD_RESULT, ONE_POD_FAILS } = process.env

/** What a test left in the worker after garbage was collected. */
interface Remains {
  readonly heapBytes: number
  /** Sockets, timers, watchers, child processes. */
  readonly handles: readonly string[]
  readonly processes: number
}

const testMs: number[] = []
const resetMs: number[] = []
const remains: Remains[] = []

const beganMs = performance.now()
let readyMs = 0
let startedMs = 0
beforeEach(() => {
  startedMs = performance.now()
})
const cluster = ControlCluster.ofSuite()
beforeAll(() => {
  readyMs = performance.now() - beganMs
})
beforeEach(() => {
  resetMs.push(performance.now() - startedMs)
})

afterEach(() => {
  testMs.push(performance.now() - startedMs)
  remains.push(whatRemains())
})

afterAll(() => {
  if (ONE_POD_RESULT !== undefined) {
    writeFileSync(ONE_POD_RESULT, JSON.stringify({ readyMs, testMs, resetMs, remains }))
  }
})

describe.each(Array.from({ length: Number(ONE_POD_TESTS) }, (_none, index) => index))('test %i', () => {
  it('gives a pod its port, and takes it back', async () => {
    await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
    await using control = await cluster.startController()
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'ovn-default')).toContain('web.default')
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['web.default'])
    await cluster.removePod('web')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web.default')).toBeUndefined()
    expect(ONE_POD_FAILS).toBeUndefined()
  })
})

function whatRemains(): Remains {
  globalThis.gc?.()
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  return {
    heapBytes: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().sort(),
    processes: children.split(' ').filter(Boolean).length,
  }
}
