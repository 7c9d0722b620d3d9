import { addressesOfPod } from '@kube-ovn/lab'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { first, nameOf, type Ko, type KoSuite } from './suite.ts'

interface Findings {
  readonly verdict: string
  readonly findings: readonly {
    readonly where: string
    readonly check: string
    readonly subject: string
    readonly isGood: boolean
    readonly result: string
  }[]
}

/** What it finds out itself. */
export function describeFindings(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('what it finds out itself', () => {
    it('status knows the nodes and subnets', async () => {
      const { stdout, stderr } = await ko('status', '-o', 'json')
      expect(stderr).toBe('')
      expect(JSON.parse(stdout)).toMatchObject({
        leader: expect.stringMatching(/./),
        subnets: expect.arrayContaining([expect.objectContaining({ name: 'shop', isReady: true })]),
      })
    })

    it('status tells of what somebody else changed, and the controller put right', async () => {
      const driftOf = async (): Promise<number> => {
        const { stdout } = await ko('status', '-o', 'json')
        const { controller } = JSON.parse(stdout) as {
          controller: { drift: readonly { feature: string; healed: number }[] }
        }
        return controller.drift.find(({ feature }) => feature === 'subnet')?.healed ?? 0
      }
      const before = await driftOf()
      await ko('nbctl', 'set', 'Logical_Switch', 'stock', 'external_ids:owner=nobody')
      await expect.poll(driftOf, { timeout: 180_000 }).toBeGreaterThan(before)
      expect((await ko('status')).stdout).toMatch(/^queue: .*; drift put right since it started: \d+ \(/m)
    })

    it('topology draws what there is', async () => {
      const { exitCode, stdout } = await ko('topology', '-o', 'svg')
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/^<svg [^>]*>[^]*>stock<[^]*<\/svg>\n$/)
    })

    it('why misses nothing of a pod that runs', async () => {
      const { exitCode, stdout } = await ko('why', nameOf(first(given().shop)))
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/^flows +done/m)
      expect(stdout).toContain('nothing is missing')
    })

    it('ipam knows who has an address, and finds no contradiction', async () => {
      const who = await ko('ipam', 'who', first(addressesOfPod(first(given().shop))))
      expect(who.stdout).toContain(nameOf(first(given().shop)))
      expect((await ko('ipam', 'verify')).stdout).toContain('no contradiction')
    })

    it('topology shows subnets where they are', async () => {
      expect((await ko('topology', 'ovn-cluster')).stdout).toMatch(/─ subnet stock /)
    })
  })

  describe('diagnose', () => {
    it('finds nothing wrong with a cluster that is well, from every node', async () => {
      await expect
        .poll(async () => (await ko('diagnose', 'all', '--only-failed')).stdout, { timeout: 180_000 })
        .toMatch(/^\d+ checks, all is well\n$/)
      const { exitCode, stdout } = await ko('diagnose', 'all', '-o', 'json')
      expect(exitCode).toBe(0)
      const { findings } = JSON.parse(stdout) as Findings
      expect(new Set(findings.map(({ where }) => where))).toEqual(new Set(['cluster', 'node-1', 'node-2']))
      expect(new Set(findings.map(({ check }) => check))).toEqual(
        new Set([
          ...[
            'definition',
            'service',
            'workload',
            'state',
            'leader',
            'storage',
            'ovs',
            'ovn-controller',
            'port-bindings',
          ],
          ...['apiserver', 'internal-dns', 'pod', 'node', 'targets'],
        ]),
      )
    })

    it('reaches pods that it makes in a subnet, and leaves none', async () => {
      const { exitCode, stdout } = await ko('diagnose', 'subnet', 'shop', '-o', 'json')
      const { findings } = JSON.parse(stdout) as Findings
      expect(findings.filter(({ isGood }) => !isGood)).toEqual([])
      expect(exitCode).toBe(0)
      // Each of two pods pings two, and asks two ports of each, in each family.
      const families = given().cluster.stack === 'dual' ? 2 : 1
      expect(findings.map(({ check }) => check).filter((check) => check === 'external')).toHaveLength(
        4 * families,
      )
      expect(findings.filter(({ check }) => check === 'target-ip-ports')).toHaveLength(8 * families)
      await expect
        .poll(
          async () => {
            const path = '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dconn-check'
            const { items } = await given().cluster.api.call<{ items: readonly object[] }>('GET', path)
            return items.length
          },
          { timeout: 180_000 },
        )
        .toBe(0)
    })

    it('tells an open port from a closed one, and ends with 1', async () => {
      const [address = ''] = addressesOfPod(first(given().stock))
      const { exitCode, stdout } = await ko(
        'diagnose',
        'IPPorts',
        `tcp-${address}-8080,tcp-${address}-9`,
        '-o',
        'json',
      )
      expect(exitCode).toBe(1)
      const { findings } = JSON.parse(stdout) as Findings
      expect(
        findings.map(({ where, subject, isGood }) => `${where} ${subject} ${String(isGood)}`).toSorted(),
      ).toEqual(
        ['node-1', 'node-2'].flatMap((node) => [
          `${node} ${address} tcp 8080 true`,
          `${node} ${address} tcp 9 false`,
        ]),
      )
    })

    it.each([
      { args: ['node', 'no-such-node'], code: 1, says: 'no-such-node' },
      { args: ['subnet', 'no-such-subnet'], code: 1, says: 'no-such-subnet' },
      { args: ['node'], code: 2, says: 'write kubectl ko diagnose node and its name' },
      { args: ['IPPorts', '10.0.0.1:80'], code: 2, says: 'write PROTOCOL-ADDRESS-PORT' },
    ])('$args ends with $code', async ({ args, code, says }) => {
      const { exitCode, stderr } = await ko('diagnose', ...args)
      expect({ exitCode, lines: stderr.trimEnd().split('\n').length }).toEqual({ exitCode: code, lines: 1 })
      expect(stderr).toContain(says)
    })
  })

  it('env-check judges settings of every node', async () => {
    const { stdout } = await ko('env-check', '-o', 'json')
    const { findings } = JSON.parse(stdout) as Findings
    for (const where of ['node-1', 'node-2'])
      expect(findings).toContainEqual(expect.objectContaining({ where, check: 'ip_forward', isGood: true }))
  })

  it('matrix shows every pair of nodes, and draws it', async () => {
    const path = join(given().directory, 'matrix.svg')
    const { exitCode, stdout } = await ko('matrix', '-o', 'json', '--svg', path)
    expect(exitCode).toBe(0)
    const { measured } = JSON.parse(stdout) as {
      measured: readonly { from: string; to: string; lost: number }[]
    }
    expect(new Set(measured.map(({ from, to }) => `${from} ${to}`))).toEqual(
      new Set(['node-1 node-1', 'node-1 node-2', 'node-2 node-1', 'node-2 node-2']),
    )
    expect(await readFile(path, 'utf8')).toContain('node-1 to node-2: ')
    expect((await ko('matrix')).stdout).toMatch(
      /^FROM \\ TO, MS +NODE-1 +NODE-2\nnode-1 +\d+\.\d\d +\d+\.\d\d\n/,
    )
  })
}
