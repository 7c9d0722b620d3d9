import { eventually, type Cluster } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { koOf } from './run-program.ts'
import { first } from './suite.ts'

interface Member {
  readonly id: string
  readonly address: string
  readonly isSelf: boolean
}

type Database = 'nb' | 'sb'

const schemas = { nb: 'OVN_Northbound', sb: 'OVN_Southbound' } as const

/** Takes members out of the databases of three masters. */
export function kickedMember(
  given: () => Cluster,
  { expectNoLoss, backMs }: { expectNoLoss: (work: () => Promise<void>) => Promise<void>; backMs: number },
): void {
  const ko = (...args: readonly string[]) => koOf(given().kubeconfig)(...args)

  async function members(database: Database): Promise<readonly Member[]> {
    const { stdout, stderr } = await ko(database, 'status', '-o', 'json')
    if (stdout === '') throw new Error(stderr)
    const { cluster } = JSON.parse(stdout) as { readonly cluster: { readonly servers: readonly Member[] } }
    return cluster.servers
  }

  const hosts = (of: readonly Member[]): readonly string[] =>
    of.map(({ address }) => address.replace(/:\d+$/, '')).toSorted()

  it.each<Database>(['nb', 'sb'])('take nobody out of the %s who is not known', async (database) => {
    const before = await members(database)
    expect(before).toHaveLength(3)
    const told = await ko(database, 'kick', 'nobody')
    expect(told).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining('unknown server') })
    const said = await ko(database, 'kick', 'nobody', '-o', 'json')
    expect({ exitCode: said.exitCode, told: JSON.parse(said.stdout) as unknown }).toEqual({
      exitCode: 2,
      told: { database: schemas[database], server: 'nobody', isKicked: false, answer: '' },
    })
    expect(hosts(await members(database))).toEqual(hosts(before))
  })

  it('take a member out that is named, while packets go on, and it comes back as somebody new', async () => {
    const before = { nb: await members('nb'), sb: await members('sb') }
    const named = first(before.nb.filter(({ isSelf }) => !isSelf))
    const [host] = hosts([named])
    // That of the other database on the same machine, whether it leads or not.
    const beside = first(before.sb.filter((member) => hosts([member])[0] === host))
    await expectNoLoss(async () => {
      const kicked = await ko('nb', 'kick', named.id, '-o', 'json')
      expect({ exitCode: kicked.exitCode, told: JSON.parse(kicked.stdout) as unknown }).toEqual({
        exitCode: 0,
        told: { database: schemas.nb, server: named.id, isKicked: true, answer: 'started removal' },
      })
      expect(await ko('sb', 'kick', beside.id)).toEqual({
        ...{ exitCode: 0, stderr: '' },
        stdout: expect.stringMatching(/^(started removal|leader \w+ leaves the cluster)\n$/),
      })
      for (const database of ['nb', 'sb'] as const)
        await eventually(
          `the ${database} has one member less`,
          async () => ((await members(database)).length === 2 ? true : undefined),
          { timeoutMs: backMs },
        )
    })
    for (const database of ['nb', 'sb'] as const) {
      const after = await eventually(
        `the ${database} has three members again`,
        async () => {
          const now = await members(database)
          return now.length === 3 ? now : undefined
        },
        { timeoutMs: backMs },
      )
      expect(hosts(after)).toEqual(hosts(before[database]))
    }
  })
}
