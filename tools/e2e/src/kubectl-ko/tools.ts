import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Ko, KoSuite } from './suite.ts'

/** The tools of OVN and Open vSwitch, and of others on our cluster. */
export function describeTools(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('tools of OVN and Open vSwitch', () => {
    it.each([
      { line: 'nbctl show', says: 'switch ' },
      { line: 'sbctl show', says: 'Chassis ' },
      { line: 'nb status', says: 'status: ok' },
      { line: 'sb status', says: 'status: ok' },
      { line: 'nb dbstatus', says: 'status: ok' },
    ])('$line', async ({ line, says }) => {
      const { exitCode, stdout } = await ko(...line.split(' '))
      expect(exitCode).toBe(0)
      expect(stdout).toContain(says)
    })

    it('run on every node, and end as the tool does', async () => {
      for (const node of new Set(
        [...given().shop, ...given().stock].map(({ spec }) => spec?.nodeName ?? ''),
      )) {
        expect(await ko('vsctl', node, 'show')).toMatchObject({ exitCode: 0 })
        expect(await ko('ofctl', node, 'show', 'br-int')).toMatchObject({ exitCode: 0 })
        expect(await ko('appctl', node, 'list-commands')).toMatchObject({ exitCode: 0 })
        expect(await ko('vsctl', node, 'get', 'Interface', 'no-such', 'name')).toMatchObject({ exitCode: 1 })
      }
      expect(await ko('vsctl', 'no-such-node', 'show')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('no-such-node'),
      })
    })

    it('keep arguments as they are: no shell reads them', async () => {
      const { exitCode, stderr } = await ko('nbctl', 'get', 'Logical_Switch', '$(reboot); `id`', 'name')
      expect(exitCode).toBe(1)
      expect(stderr).toContain('$(reboot); `id`')
    })

    it.each(['nb', 'sb'])('copy the %s database into a file', async (database) => {
      const path = join(given().directory, `${database}.db`)
      const { exitCode, stdout } = await ko(database, 'backup', path)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `backup ovn-${database} db to ${path}\n` })
      expect(await readFile(path, 'utf8')).toMatch(/^OVSDB (JSON|CLUSTER) /)
    })

    it('say for programs what came of it', async () => {
      const file = join(given().directory, 'told.db')
      const backup = await ko('nb', 'backup', file, '-o', 'json')
      const { size: bytes } = await stat(file)
      expect(JSON.parse(backup.stdout)).toEqual({
        ...{ database: 'OVN_Northbound', file, bytes },
        leader: expect.stringMatching(/^ovn-central-/),
      })
      // A database that stands alone has no members, and one that has some has none of this name.
      const kick = await ko('nb', 'kick', 'nobody', '-o', 'json')
      expect(kick.exitCode).not.toBe(0)
      expect(JSON.parse(kick.stdout)).toMatchObject({ server: 'nobody', isKicked: false })
    })
  })

  it('version tells the controller and Kubernetes', async () => {
    const { exitCode, stdout } = await ko('version', '-o', 'json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ kubernetes: expect.stringMatching(/^v1\./) })
    expect((await ko('__complete', '--', 'vsctl', '')).stdout).toBe('node-1\nnode-2\n')
  })

  it('says in one sentence that there is no such pod, and no such cluster', async () => {
    const missing = await ko('why', 'shop/no-such-pod')
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('shop/no-such-pod') })
    expect(missing.stderr.trimEnd()).not.toContain('\n')
    const elsewhere = await ko('--kubeconfig', join(given().directory, 'none'), 'status')
    expect(elsewhere).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('give a kubeconfig') })
  })
}
