import { addressesOfPod, kubectl } from '@kube-ovn/lab'
import { describe, expect, it } from 'vitest'
import { first, nameOf, type Ko, type KoSuite } from './suite.ts'

/** What it does to databases. */
export function describeDatabases(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('nb restore', () => {
    async function switches(): Promise<readonly string[]> {
      const { stdout } = await ko('nbctl', '--bare', '--columns=name', 'list', 'Logical_Switch')
      return stdout.split('\n').filter(Boolean).toSorted()
    }

    it('puts back what was backed up, while pods go on, and the controller corrects what has changed since', async () => {
      const before = await switches()
      expect(await ko('nb', 'backup', 'before.db')).toMatchObject({ exitCode: 0 })
      // One row too many and one too few: neither is the controller's doing.
      expect(await ko('nbctl', 'ls-add', 'stray')).toMatchObject({ exitCode: 0 })
      expect(await switches()).toContain('stray')
      const { exitCode, stdout } = await ko('nb', 'restore', 'before.db', '--yes', '-o', 'json')
      expect({ exitCode, told: JSON.parse(stdout) as unknown }).toEqual({
        exitCode: 0,
        told: {
          database: 'OVN_Northbound',
          file: expect.stringMatching(/before\.db$/),
          leader: expect.stringMatching(/^ovn-central-/),
        },
      })
      await expect.poll(switches, { timeout: 60_000 }).toEqual(before)
      await expect.poll(async () => (await ko('explain')).exitCode, { timeout: 60_000 }).toBe(0)

      const [from, to] = [first(given().shop), first(addressesOfPod(first(given().stock)))]
      const { namespace = '', name } = from.metadata
      const asks = [
        'exec',
        '-n',
        namespace,
        name,
        '--',
        'sh',
        '-c',
        `busybox nc -w 2 ${to} 8080 -e true && echo open; true`,
      ]
      await expect.poll(() => kubectl(given().cluster, ...asks), { timeout: 180_000 }).toContain('open')
      expect((await ko('why', nameOf(from))).stdout).toContain('nothing is missing')
    })

    it('tells in words what it did', async () => {
      const { exitCode, stdout } = await ko('nb', 'restore', 'before.db', '--yes')
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: expect.stringMatching(/^restored ovn-nb db from .*before\.db\n$/),
      })
      await expect.poll(async () => (await ko('explain')).exitCode, { timeout: 60_000 }).toBe(0)
    })
  })
}
