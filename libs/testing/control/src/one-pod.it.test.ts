import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFixture } from '@kube-ovn/testing-bundle/fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const fixture = join(import.meta.dirname, 'one-pod.fixture.ts')

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-one-pod-'))
})
afterAll(() => rm(directory, { recursive: true }))

interface Result {
  readonly remains: readonly {
    readonly heapBytes: number
    readonly handles: readonly string[]
    readonly processes: number
  }[]
}

/** The least of each that any of these tests left. */
function leastOf(remains: Result['remains']) {
  return {
    heapBytes: Math.min(...remains.map(({ heapBytes }) => heapBytes)),
    handles: Math.min(...remains.map(({ handles }) => handles.length)),
    processes: Math.min(...remains.map(({ processes }) => processes)),
  }
}

describe('feature tests, one after the other in one worker', () => {
  it('leave no process, no handle and no memory behind', { timeout: 300_000 }, async ({ signal }) => {
    const file = join(directory, 'result.json')
    const { exitCode, output } = await runFixture(
      fixture,
      { ONE_POD_TESTS: '24', ONE_POD_RESULT: file },
      { signal },
    )
    expect(exitCode, output).toBe(0)
    const { remains } = JSON.parse(await readFile(file, 'utf8')) as Result
    expect(remains).toHaveLength(24)
    // The first ones fill pools and compile code. What one leaves for a moment, e.g. a connection that is kept, the next may lack.
    const [early, late] = [leastOf(remains.slice(6, 12)), leastOf(remains.slice(18))]
    expect(late.processes).toBe(early.processes)
    expect(late.handles).toBeLessThanOrEqual(early.handles)
    expect(late.heapBytes / early.heapBytes).toBeLessThan(1.05)
  })

  it(
    'leave a bundle when they fail: the objects, the Northbound and what the controller logged',
    { timeout: 300_000 },
    async ({ signal }) => {
      const environment = { ONE_POD_TESTS: '1', ONE_POD_FAILS: 'yes', KUBE_OVN_TEST_RESULTS: directory }
      const { exitCode, output } = await runFixture(fixture, environment, { signal })
      expect(exitCode).toBe(1)
      const [folder = ''] = await readdir(join(directory, 'failed'))
      const bundle = join(directory, 'failed', folder)
      expect(output).toContain(`what there was when the test failed: ${bundle}\n`)
      const files = await readdir(bundle, { recursive: true })
      expect(files).toEqual(
        expect.arrayContaining([
          ...['failure.txt', 'northbound.txt', 'northbound.log', 'controller-1.log', 'apiserver.log'],
          ...['objects/nodes.yaml', 'objects/subnets.kubeovn.io.yaml'],
        ]),
      )
      const read = (name: string): Promise<string> => readFile(join(bundle, name), 'utf8')
      expect(await read('objects/nodes.yaml')).toContain('name: n1')
      expect(await read('northbound.txt')).toContain('ovn-default')
      expect(await read('controller-1.log')).toContain('rows committed')
    },
  )
})
