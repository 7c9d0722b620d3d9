import type { ApiObject, PodObject } from '@kube-ovn/lab'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { program } from './run-program.ts'
import type { Ko, KoSuite } from './suite.ts'

/** What it does to a cluster, and leaves on a disk. */
export function describeDeeds(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('perf', () => {
    async function left(): Promise<readonly string[]> {
      const path = '/api/v1/namespaces/kube-system/'
      const listed = await Promise.all(
        ['pods', 'services'].map((kind) =>
          given().cluster.api.call<{ items: readonly ApiObject[] }>(
            'GET',
            `${path}${kind}?labelSelector=app%3DPerfTest`,
          ),
        ),
      )
      return listed.flatMap(({ items }) => items).map(({ metadata }) => metadata.name)
    }

    it('measures between pods, hosts and through a Service, draws it, and leaves nothing', async () => {
      const path = join(given().directory, 'perf.svg')
      const { exitCode, stdout, stderr } = await ko(
        ...['perf', '--sizes', '64,1024', '--seconds', '0.2', '-o', 'json', '--svg', path],
      )
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^starting pods\n/) })
      const { from, to, measured } = JSON.parse(stdout) as {
        readonly from: string
        readonly to: string
        readonly measured: readonly { path: string; size: number; tcpBitsPerSecond: number }[]
      }
      expect([from, to].toSorted()).toEqual(['node-1', 'node-2'])
      expect(measured.map(({ path: of, size }) => `${of} ${size}`)).toEqual(
        ['pod', 'host', 'service'].flatMap((of) => [`${of} 64`, `${of} 1024`]),
      )
      for (const { tcpBitsPerSecond } of measured) expect(tcpBitsPerSecond).toBeGreaterThan(0)
      expect(await readFile(path, 'utf8')).toContain('From node-2 to node-1')
      expect(await left()).toEqual([])
    })

    it('takes its pods away when it is told to end while it measures', async () => {
      const env = { ...process.env, KUBECONFIG: given().cluster.kubeconfig }
      const args = ['perf', '--sizes', '64', '--seconds', '600']
      const child = spawn(program, args, { cwd: given().directory, env, stdio: ['ignore', 'ignore', 'pipe'] })
      const ended = once(child, 'exit')
      let said = ''
      for await (const piece of child.stderr.setEncoding('utf8')) {
        said += String(piece)
        if (said.endsWith('measuring pod with messages of 64 bytes\n')) child.kill('SIGTERM')
      }
      const [code] = (await ended) as [number | null]
      expect({ code, said }).toEqual({ code: 143, said: expect.stringMatching(/\nremoving pods\n$/) })
      expect(await left()).toEqual([])
    })

    it('says which node is not there', async () => {
      const { exitCode, stderr } = await ko('perf', '--from', 'no-such-node')
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('no-such-node') })
    })
  })

  it('log saves what components have logged, and the state of nodes', async () => {
    const { exitCode, stdout } = await ko('log', 'all', '--lines', '50')
    const saved = join(given().directory, 'kubectl-ko-log')
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `Collected files have been saved in the directory ${saved}\n`,
    })
    for (const node of ['node-1', 'node-2']) {
      expect(await readFile(join(saved, node, 'openvswitch/ovs-vswitchd.log'), 'utf8')).not.toBe('')
      expect(await readFile(join(saved, node, 'linux/route.log'), 'utf8')).toContain('ovn0')
    }
    expect(await ko('log', 'nobody')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Allowed choices'),
    })
  })

  it('support-bundle has logs, objects and databases, and lacks nothing', async () => {
    const bundle = join(given().directory, 'bundle')
    const { exitCode, stdout } = await ko('support-bundle', bundle, '--lines', '50', '-o', 'json')
    expect({ exitCode, told: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 0,
      told: { directory: bundle, files: expect.any(Number), missing: [] },
    })
    expect(await readFile(join(bundle, 'objects/subnets.yaml'), 'utf8')).toContain('name: shop')
  })

  it('reload restarts a component, and waits until it runs again', async () => {
    const podOf = async (): Promise<string> => {
      const path = '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dkube-ovn-cni'
      const { items } = await given().cluster.api.call<{ items: readonly PodObject[] }>('GET', path)
      return items.map(({ metadata }) => metadata.name).join()
    }
    const before = await podOf()
    const { exitCode, stdout } = await ko('reload', 'kube-ovn-cni')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^kube-ovn-cni {3}restarted {3}\d+\.\d s\n$/)
    expect(await podOf()).not.toBe(before)
    expect(await ko('reload', 'nobody')).toMatchObject({ exitCode: 2 })
  })
}
