import { podProcesses, untilPodsReady } from '@kube-ovn/lab'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { program } from './run-program.ts'
import type { KoSuite } from './suite.ts'

/** Some 50 MB: more than the buffers of all connections between a program in a container and us hold. */
const much = Array.from({ length: 3000 }, () => ['--', 'list', 'Interface']).flat()
const never = ['wait-until', 'Open_vSwitch', '.', 'external_ids:never=come']

/** That what was started in a container ends when nobody waits for it any more. */
export function describeEnds(given: () => KoSuite): void {
  async function toolsOnNodes(): Promise<number> {
    const pods = await untilPodsReady(given().cluster.api, 'kube-system', 'app=ovs', 2)
    return pods.flatMap(({ metadata }) => podProcesses(metadata.uid ?? '')).filter(isTool).length
  }

  describe('a tool in a container', () => {
    it.each<{ when: string; words: readonly string[]; end: (child: ChildProcess) => unknown }>([
      { when: 'waits, and we are interrupted', words: never, end: (child) => child.kill('SIGINT') },
      { when: 'waits, and we are killed', words: never, end: (child) => child.kill('SIGKILL') },
      { when: 'is held up, and we are told to end', words: much, end: (child) => child.kill('SIGTERM') },
      { when: 'is held up, and we are killed', words: much, end: (child) => child.kill('SIGKILL') },
      { when: 'is held up, and who reads is gone', words: much, end: (child) => child.stdout?.destroy() },
    ])('ends when it $when', async ({ words, end }) => {
      const env = { ...process.env, KUBECONFIG: given().cluster.kubeconfig }
      const child = spawn(program, ['vsctl', 'node-1', ...words], {
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = once(child, 'exit')
      await expect.poll(toolsOnNodes, { timeout: 30_000 }).toBeGreaterThan(0)
      if (words === much) await once(child.stdout, 'readable')
      end(child)
      await ended
      await expect.poll(toolsOnNodes, { timeout: 30_000 }).toBe(0)
    })
  })
}

function isTool(pid: number): boolean {
  try {
    return readFileSync(join('/proc', String(pid), 'comm'), 'utf8') === 'ovs-vsctl\n'
  } catch {
    return false
  }
}
